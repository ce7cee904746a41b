package upstream

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"strings"

	"heddle/internal/mcptest"
)

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// connectLater never connects.
func connectLater(ctx context.Context) (io.ReadWriteCloser, error) {
	<-ctx.Done()
	return nil, context.Cause(ctx)
}

// deafPeer connects to a server that reads nothing after the first call.
func deafPeer(context.Context) (io.ReadWriteCloser, error) {
	client, server := net.Pipe()
	in, feed := io.Pipe()
	go func() {
		mcptest.NewServer(mcptest.Options{}).Serve(in, server)
		_ = server.Close()
	}()
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := server.Read(buf)
			if err != nil {
				_ = feed.CloseWithError(err)
				return
			}
			if n == len(buf) { // the first of the large calls
				break
			}
			_, _ = feed.Write(buf[:n])
		}
	}()
	return &joined{client, feed, in}, nil
}

// joined ends everything of a deafPeer.
type joined struct {
	net.Conn
	feed *io.PipeWriter
	in   *io.PipeReader
}

func (j *joined) Close() error {
	_ = j.feed.Close()
	_ = j.in.Close()
	return j.Conn.Close()
}

// rewritten connects to a well-behaved server each of whose lines f may change. f
// gets them one after the other, without line break; "" sends nothing.
func rewritten(f func(line string) string) func(context.Context) (io.ReadWriteCloser, error) {
	return func(context.Context) (io.ReadWriteCloser, error) {
		client, server := net.Pipe()
		written, out := io.Pipe()
		go func() {
			mcptest.NewServer(mcptest.Options{}).Serve(server, out)
			_ = out.Close()
		}()
		go func() {
			r := bufio.NewReader(written)
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					break
				}
				if line = f(strings.TrimSuffix(line, "\n")); line != "" {
					_, err = io.WriteString(server, line+"\n")
				}
				if err != nil {
					break
				}
			}
			_ = written.Close()
			_ = server.Close()
		}()
		return client, nil
	}
}
