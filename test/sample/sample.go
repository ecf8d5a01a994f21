// Package sample generates MarkdownViews and Inputs for tests, and reads the books that the
// tests of package book share. All MarkdownViews and Inputs are valid, and many
// have unusual values.
package sample

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// A Source chooses values from bytes, so a fuzzer that changes a byte changes a choice.
// After the last byte, every choice is the first option: short data give simple
// samples.
type Source struct {
	data []byte
}

// New returns a Source that chooses from data.
func New(data []byte) *Source {
	return &Source{data: data}
}

// Random returns a Source of random choices, which are the same for the same seed.
func Random(seed uint64) *Source {
	return New(RandomBytes(seed))
}

// RandomBytes returns the bytes from which Random chooses.
func RandomBytes(seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	data := make([]byte, 1024)
	rand.NewChaCha8(key).Read(data) //nolint:errcheck // It never fails.

	return data
}

// Below returns a number from 0 to n-1.
func (s *Source) Below(n int) int {
	if n > 256 {
		return (s.next()<<8 | s.next()) % n
	}

	return s.next() % n
}

// Maybe returns true with a probability of 1/n.
func (s *Source) Maybe(n int) bool {
	return s.Below(n) == n-1
}

// setter returns a function that sets a field of an object with a probability of 1/3.
func (s *Source) setter(object map[string]any) func(name string, value any) {
	return func(name string, value any) {
		if s.Maybe(3) {
			object[name] = value
		}
	}
}

func (s *Source) next() int {
	if len(s.data) == 0 {
		return 0
	}
	b := s.data[0]
	s.data = s.data[1:]

	return int(b)
}

// take returns up to n bytes of the data.
func (s *Source) take(n int) []byte {
	n = min(n, len(s.data))
	b := s.data[:n]
	s.data = s.data[n:]

	return b
}

// Pick returns one of the options, or the first one after the last byte.
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
