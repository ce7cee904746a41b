package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"

	"heddle/internal/daemon"
	"heddle/internal/surface"

	"github.com/spf13/cobra"
)

// tokenVar holds the bearer token where no file does.
const tokenVar = "HEDDLE_TOKEN"

// defaultPort is where `sse` listens.
const defaultPort = 8000

type serveFlags struct {
	listen, mode, tokenFile string
	port                    int
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve hosts over HTTP",
		Long: "Serve hosts over HTTP: all servers at /mcp, one of them under its own names at /mcp/NAME, and\n" +
			"hosts of the oldest protocol at /sse. Without a bearer token only this machine may be listened to.",
		Args: exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.listen == "" {
				return &usageError{errors.New("serve needs --listen ADDRESS"), "for example --listen 127.0.0.1:8000"}
			}
			return a.serve(c.Context(), f)
		},
	}
	c.Flags().StringVarP(&f.listen, "listen", "l", "", "address and port, for example 127.0.0.1:8000 (port 0 takes a free one)")
	a.serveShared(c, &f)
	return c
}

// sseCommand is the short form of serve.
func (a *app) sseCommand() *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "sse",
		Short: "Serve hosts over HTTP on a port of this machine",
		Long:  "The same as serve --listen 127.0.0.1:PORT.",
		Args:  exactArgs(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if f.port < 0 || f.port > 65535 {
				return &usageError{fmt.Errorf("--port %d is no port", f.port), "use a number from 0, which takes a free one, to 65535"}
			}
			f.listen = net.JoinHostPort("127.0.0.1", strconv.Itoa(f.port))
			return a.serve(c.Context(), f)
		},
	}
	c.Flags().IntVarP(&f.port, "port", "p", defaultPort, "port on the loopback address")
	a.serveShared(c, &f)
	return c
}

func (a *app) serveShared(c *cobra.Command, f *serveFlags) {
	c.Flags().StringVarP(&f.mode, "mode", "m", "compact", "what hosts see at /mcp: "+surface.ModeList())
	c.Flags().StringVar(&f.tokenFile, "token-file", "", "file with the bearer token that hosts must send (default: the variable "+tokenVar+")")
	a.federateFlag(c)
	a.profileFlag(c)
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(surface.Names(), cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	token, err := a.token(f.tokenFile)
	if err != nil {
		return err
	}
	loopback, err := bindable(f.listen, token)
	if err != nil {
		return err
	}
	a.listen = f.listen
	cfg, err := a.load()
	if err != nil {
		return err
	}
	o := surface.Options{KeepOutputSchema: cfg.Results.OutputSchema == "keep", MeshResults: cfg.Results.Mesh}
	mode, err := surface.NewMode(f.mode, o)
	if err != nil {
		return &usageError{err, ""}
	}
	native, err := surface.NewMode("native", o)
	if err != nil {
		return err
	}
	if err := a.refuseLoop(cfg); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.listen)
	if err != nil {
		return &hinted{fmt.Errorf("listen on %s: %w", f.listen, err), "is another program on that port? Choose another, or 0 for a free one"}
	}
	defer listener.Close()
	a.warn(cfg.Warnings)
	d, err := a.daemon(cfg, f.mode, options{serves: true})
	if err != nil {
		return err
	}
	a.announce(listener.Addr(), token != "")
	err = d.Run(ctx, func(ctx context.Context) error {
		return d.ServeHTTP(ctx, listener, daemon.HTTPOptions{Mode: mode, Native: native, Token: token, Loopback: loopback})
	})
	if errors.Is(err, context.Canceled) { // a signal is an orderly end
		return nil
	}
	return err
}

// announce says where hosts find heddle.
func (a *app) announce(addr net.Addr, token bool) {
	at := addr.String()
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		at = net.JoinHostPort("localhost", strconv.Itoa(tcp.Port)) // and any other name of this machine
	}
	fmt.Fprintf(a.err, "heddle: serving http://%s/mcp (one server: /mcp/NAME; the oldest hosts: /sse)\n", at)
	if token {
		fmt.Fprintln(a.err, "heddle: hosts must send the header Authorization: Bearer TOKEN")
	}
}

// minToken is the least length of a token that cannot be guessed.
const minToken = 16

// token returns the bearer token, "" if there is none.
func (a *app) token(path string) (string, error) {
	token, where := "", "the variable "+tokenVar
	if path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return "", &usageError{fmt.Errorf("--token-file: %w", err), ""}
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode().IsRegular() {
			fmt.Fprintf(a.err, "heddle: warning: others can read %s: chmod 600 %s\n", path, path)
		}
		token, where = strings.TrimSpace(string(raw)), path
		if token == "" {
			return "", &usageError{fmt.Errorf("%s holds no token", path), "write a long random text into it, for example: openssl rand -hex 32"}
		}
	} else if v, ok := a.env.Lookup(tokenVar); ok {
		token = strings.TrimSpace(v)
	}
	if token != "" && (len(token) < minToken || strings.ContainsAny(token, " \t\r\n")) {
		return "", &usageError{fmt.Errorf("the token in %s is too short or has spaces", where), fmt.Sprintf("use at least %d characters, for example: openssl rand -hex 32", minToken)}
	}
	return token, nil
}

// bindable reports whether only this machine reaches the address. One that
// others reach needs a token.
func bindable(listen, token string) (loopback bool, err error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return false, &usageError{fmt.Errorf("--listen %s is no address with a port", listen), "for example --listen 127.0.0.1:8000"}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return false, &usageError{fmt.Errorf("--listen %s: %q is no port", listen, port), "use a number from 0, which takes a free one, to 65535"}
	}
	addr, parseErr := netip.ParseAddr(host)
	switch {
	case strings.EqualFold(host, "localhost"), parseErr == nil && addr.Unmap().IsLoopback():
		return true, nil
	case token != "":
		return false, nil
	}
	return false, &usageError{
		fmt.Errorf("--listen %s is reached by other machines, and there is no token", listen),
		"give --token-file FILE or " + tokenVar + ", or listen to 127.0.0.1:" + port,
	}
}
