package capture

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// chunkSize is how many bytes of content are compressed by themselves: one block
// of zstd. A smaller one compresses worse, a larger one makes a page of 10 kB
// dearer to read.
const chunkSize = 128 << 10

// chunk is one entry of a capture's index: where its stored form is, and what is
// before it.
type chunk struct {
	pos   int64 // in the spill file
	size  int32 // stored
	raw   bool  // stored as it is
	crc   uint32
	lines int64 // newlines in the content before it
}

var errDamaged = errors.New("its stored form is damaged")

// codec compresses and decompresses chunks. Encoder and decoder are made when
// first needed; both do one chunk at a time, so that what they hold stays small.
type codec struct {
	once sync.Once
	err  error
	enc  *zstd.Encoder
	dec  *zstd.Decoder
	bufs sync.Pool // of *[]byte of chunkSize
}

func (k *codec) ready() error {
	k.once.Do(func() {
		k.enc, k.err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true), zstd.WithWindowSize(chunkSize), zstd.WithEncoderCRC(false))
		if k.err != nil {
			return
		}
		k.dec, k.err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(chunkSize), zstd.WithDecodeAllCapLimit(true))
	})
	return k.err
}

// buffer returns one of chunkSize bytes, with room for what zstd adds to a chunk
// that it cannot compress; give it back with free.
func (k *codec) buffer() *[]byte {
	if b, ok := k.bufs.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, chunkSize, chunkSize+1<<10)
	return &b
}

func (k *codec) free(b *[]byte) { k.bufs.Put(b) }

// pack compresses content into c, chunk by chunk: the content is never held
// twice.
func (k *codec) pack(c *Capture, content []byte) error {
	if err := k.ready(); err != nil {
		return err
	}
	n := (len(content) + chunkSize - 1) / chunkSize
	c.chunks, c.data = make([]chunk, 0, n), make([][]byte, 0, n)
	scratch := k.buffer()
	defer k.free(scratch)
	lines := int64(0)
	for rest := content; len(rest) > 0; {
		raw := rest[:min(chunkSize, len(rest))]
		rest = rest[len(raw):]
		stored, asIs := k.encode(raw, *scratch)
		c.chunks = append(c.chunks, chunk{
			pos: c.packed, size: int32(len(stored)), raw: asIs, crc: checksum(stored), lines: lines,
		})
		c.data = append(c.data, bytes.Clone(stored))
		c.packed += int64(len(stored))
		lines += int64(bytes.Count(raw, newline))
	}
	if len(content) > 0 && content[len(content)-1] != '\n' {
		lines++
	}
	c.Lines = int(lines)
	return nil
}

// encode returns raw compressed, in scratch, or raw itself where that is not worth
// the time of decompression.
func (k *codec) encode(raw, scratch []byte) (stored []byte, asIs bool) {
	stored = k.enc.EncodeAll(raw, scratch[:0])
	if len(stored) > len(raw)-len(raw)/16 {
		return raw, true
	}
	return stored, false
}

// decode puts the content of a stored chunk, of n bytes, into dst.
func (k *codec) decode(dst, stored []byte, c chunk, n int) ([]byte, error) {
	if c.raw {
		if len(stored) != n {
			return nil, errDamaged
		}
		return dst[:copy(dst[:n], stored)], nil
	}
	out, err := k.dec.DecodeAll(stored, dst[:0:n])
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errDamaged, err)
	}
	if len(out) != n {
		return nil, errDamaged
	}
	return out, nil
}

// checksum finds what a disk has changed. zstd's own would not cover chunks that
// are stored as they are.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }
