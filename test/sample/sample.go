// Package sample draws MarkdownViews and Inputs for tests: all that is drawn is
// legal, and none of it is ordinary.
package sample

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// A Source makes choices from bytes, so that a fuzzer that changes a byte
// changes a choice. Once the bytes are used up every choice is the first one:
// short data give simple samples.
type Source struct {
	data []byte
}

// New returns a Source of the choices that are in data.
func New(data []byte) *Source {
	return &Source{data: data}
}

// Random returns a Source of random choices, always the same ones for a seed.
func Random(seed uint64) *Source {
	return New(RandomBytes(seed))
}

// RandomBytes returns the bytes that Random chooses from.
func RandomBytes(seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	data := make([]byte, 1024)
	rand.NewChaCha8(key).Read(data) //nolint:errcheck // It never fails.

	return data
}

// Below returns a number from 0 up to, but not including, n.
func (s *Source) Below(n int) int {
	if n > 256 {
		return (s.next()<<8 | s.next()) % n
	}

	return s.next() % n
}

// Maybe returns true once in n times.
func (s *Source) Maybe(n int) bool {
	return s.Below(n) == n-1
}

func (s *Source) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]

	return int(b)
}

// take returns up to n bytes as they are.
func (s *Source) take(n int) []byte {
	n = min(n, len(s.data))
	b := s.data[:n]
	s.data = s.data[n:]

	return b
}

// Pick returns one of the options, the first one for data that are used up.
func Pick[T any](s *Source, options ...T) T {
	return options[s.Below(len(options))]
}

// word returns n characters of an alphabet.
func (s *Source) word(alphabet string, n int) string {
	b := strings.Builder{}
	for range n {
		b.WriteByte(alphabet[s.Below(len(alphabet))])
	}

	return b.String()
}
