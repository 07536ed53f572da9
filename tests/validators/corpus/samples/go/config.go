package config

import (
	"bufio"
	"io"
	"os"
	"strconv"
	str "strings"
)

type (
	// Value is what stands behind a key.
	Value interface {
		~string | ~int
	}

	section struct {
		name  string
		pairs map[string]string
		*parent
	}

	parent struct{ next *section }
)

type Reader interface {
	io.Closer
	Get(key string) (string, bool)
	Each(visit func(key, value string) bool)
}

type fault struct {
	line int
	text string
}

func (f fault) Error() string { return "line " + strconv.Itoa(f.line) + ": " + f.text }

type Config struct {
	sections map[string]*section
	order    []string
	closers  []func() error
}

var defaults = map[string]string{
	"host":    "localhost",
	"port":    "8080",
	"quote":   `"raw"\n`,
	"initial": string('x'),
}

func Open(path string) (*Config, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}

func Read(from io.Reader) (*Config, error) {
	c := &Config{sections: make(map[string]*section, 8)}
	current := c.section("")
	scanner := bufio.NewScanner(from)
	for line := 1; scanner.Scan(); line++ {
		text := str.TrimSpace(scanner.Text())
		switch {
		case text == "", text[0] == '#':
			continue
		case text[0] == '[':
			if end := str.IndexByte(text, ']'); end > 1 {
				current = c.section(text[1:end])
			} else {
				return nil, fault{line, "a section without an end"}
			}
		default:
			key, value, found := str.Cut(text, "=")
			if !found {
				return nil, fault{line: line, text: "no '=' in " + strconv.Quote(text)}
			}
			current.pairs[str.ToLower(str.TrimSpace(key))] = str.Trim(value, " \t\"")
		}
	}
	return c, scanner.Err()
}

func (c *Config) section(name string) *section {
	if known, ok := c.sections[name]; ok {
		return known
	}
	fresh := &section{name: name, pairs: map[string]string{}}
	c.sections[name] = fresh
	c.order = append(c.order, name)
	return fresh
}

func (c *Config) Get(key string) (string, bool) {
	name, rest := "", key
	if dot := str.LastIndex(key, "."); dot >= 0 {
		name, rest = key[:dot], key[dot+1:]
	}
	if s, ok := c.sections[name]; ok {
		if value, ok := s.pairs[rest]; ok {
			return value, true
		}
	}
	value, ok := defaults[rest]
	return value, ok
}

func (c *Config) Each(visit func(key, value string) bool) {
outer:
	for _, name := range c.order {
		for key, value := range c.sections[name].pairs {
			if name != "" {
				key = name + "." + key
			}
			if !visit(key, value) {
				break outer
			}
		}
	}
}

func (c *Config) Close() (err error) {
	for i := len(c.closers) - 1; i >= 0; i-- {
		if e := c.closers[i](); e != nil && err == nil {
			err = e
		}
	}
	return
}

func Number[T ~int | ~int64](c Reader, key string, otherwise T) T {
	text, ok := c.Get(key)
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil || n < -1<<31 || n >= 1<<31 {
		return otherwise
	}
	return T(n)
}
