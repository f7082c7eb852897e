package wire

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// eventsOf reads all events of a stream, as name and data.
func eventsOf(r io.Reader, size int) ([]string, cursor, error) {
	var c cursor
	s := &eventStream{lines: bufio.NewReaderSize(r, size), limit: 1 << 20, cursor: &c}
	var all []string
	for {
		e, err := s.next()
		if err != nil {
			return all, c, err
		}
		all = append(all, e.name+"="+string(e.data))
	}
}

// A line ends with LF, CR or CRLF, and a byte order mark may come first (HTML
// Standard, section 9.2.5), however the bytes arrive.
func TestEventsOfEveryLineEnd(t *testing.T) {
	long := strings.Repeat("0123456789", 10_000)
	text := ": comment\nevent: message\nid: 7\nretry: 20\ndata: {\"a\":\ndata:1}\n\nid: 8\n\ndata: " + long + "\ndata:  x\n\n"
	want := []string{"message={\"a\":\n1}", "=" + long + "\n x"}
	for name, end := range map[string]string{"LF": "\n", "CR": "\r", "CRLF": "\r\n"} {
		for _, mark := range []string{"", "\ufeff"} {
			for way, reader := range map[string]func(io.Reader) io.Reader{
				"whole": func(r io.Reader) io.Reader { return r }, "bytes": iotest.OneByteReader, "halves": iotest.HalfReader, "with EOF": iotest.DataErrReader,
			} {
				for _, size := range []int{16, 4096, 1 << 20} {
					t.Run(fmt.Sprintf("%s/mark=%v/%s/%d", name, mark != "", way, size), func(t *testing.T) {
						t.Parallel()
						got, c, err := eventsOf(reader(strings.NewReader(mark+strings.ReplaceAll(text, "\n", end))), size)
						if err != io.EOF || !slices.Equal(got, want) || c.id != "8" || c.retry != 20e6 {
							t.Errorf("%d events, cursor %+v, %v", len(got), c, err)
						}
					})
				}
			}
		}
	}
}

// An event is complete with its empty line: what follows may be long in coming.
func TestEventIsNotHeldUpByTheNextByte(t *testing.T) {
	for _, end := range []string{"\n", "\r", "\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			r, w := io.Pipe()
			s := &eventStream{lines: bufio.NewReader(r), limit: 1 << 20, cursor: &cursor{}}
			events := make(chan *event, 2)
			go func() {
				for {
					e, err := s.next()
					if err != nil {
						close(events)
						return
					}
					events <- e
				}
			}()
			for i := range 2 {
				io.WriteString(w, fmt.Sprintf("data: %d", i)+end+end)
				synctest.Wait()
				select {
				case e := <-events:
					if string(e.data) != fmt.Sprint(i) {
						t.Errorf("%q: %q", end, e.data)
					}
				default:
					t.Errorf("%q: event %d is held up", end, i)
				}
			}
			io.WriteString(w, "data: half")
			w.Close()
			if e, ok := <-events; ok {
				t.Errorf("an event that is not complete: %q", e.data)
			}
		})
	}
}
