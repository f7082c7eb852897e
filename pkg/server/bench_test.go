package server_test

import (
	"fmt"
	"testing"
)

// BenchmarkCall measures calls of a tool that does nothing, over two pipes,
// with a number of calls under way at any time.
func BenchmarkCall(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			c := start(b, echoOptions(b))
			c.initialize("2025-11-25")
			slots := make(chan struct{}, callers)
			b.ReportAllocs()
			b.ResetTimer()
			go func() {
				for i := range b.N {
					slots <- struct{}{}
					if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"directory":"/tmp"}}}`+"\n", i); err != nil {
						b.Error(err)
						return
					}
				}
			}()
			for range b.N {
				c.line()
				<-slots
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
