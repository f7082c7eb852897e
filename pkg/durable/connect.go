package durable

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
)

// Options say how Temporal is reached.
type Options struct {
	// Address, Namespace and TaskQueue; empty: the defaults. TaskQueue is the
	// beginning of the names of all queues.
	Address, Namespace, TaskQueue string
	// TLS is nil for a connection without it. APIKey is that of Temporal Cloud, and
	// needs TLS.
	TLS    *tls.Config
	APIKey string
	// Key seals all that is kept on Temporal. Without it nothing that callers send
	// for upstream servers travels.
	Key []byte
	// Storage is a folder that all clients and workers share, for values that are
	// too large for Temporal; empty: such values are failures.
	Storage string
	// Log is required.
	Log *slog.Logger
	// Lazy lets Dial return before Temporal is reached; the first request connects.
	Lazy bool
	// Leave reports whether runs go on after the end of their calls, because this
	// process ends; nil: never.
	Leave func() bool
}

// Client starts runs on Temporal and looks at them. It is safe for concurrent use.
type Client struct {
	temporal client.Client
	options  Options
	data     converter.DataConverter
	looks    looks
	undoing  undoing
	bounds   bounds
	kept     retention
	began    began
}

// Dial connects to Temporal. The error says why that cannot be reached; with
// [Options.Lazy] it is about the options alone.
func Dial(ctx context.Context, o Options) (*Client, error) {
	o.Address = cmp.Or(o.Address, DefaultAddress)
	o.Namespace = cmp.Or(o.Namespace, DefaultNamespace)
	o.TaskQueue = cmp.Or(o.TaskQueue, DefaultTaskQueue)
	co, err := o.client()
	if err != nil {
		return nil, err
	}
	if o.Lazy {
		c, err := client.NewLazyClient(co)
		if err != nil {
			return nil, err
		}
		return &Client{temporal: c, options: o, data: co.DataConverter}, nil
	}
	opened, err := client.DialContext(ctx, co)
	if err != nil {
		return nil, noConnection(ctx, o.Address, o.TLS, err)
	}
	c := &Client{temporal: opened, options: o, data: co.DataConverter}
	if err := c.reach(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (o *Options) client() (client.Options, error) {
	codec, err := newCodec(o.Key)
	if err != nil {
		return client.Options{}, err
	}
	data := converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec)
	co := client.Options{
		HostPort: o.Address, Namespace: o.Namespace, DataConverter: data,
		FailureConverter: temporal.NewDefaultFailureConverter(temporal.DefaultFailureConverterOptions{
			DataConverter: data, EncodeCommonAttributes: o.Key != nil,
		}),
		Logger:            log.NewStructuredLogger(o.Log),
		ConnectionOptions: client.ConnectionOptions{TLS: o.TLS},
	}
	if o.APIKey != "" {
		co.Credentials = client.NewAPIKeyStaticCredentials(o.APIKey)
	}
	if o.Storage != "" {
		store, err := newFolder(o.Storage)
		if err != nil {
			return co, err
		}
		co.ExternalStorage = converter.ExternalStorage{Drivers: []converter.StorageDriver{store}, PayloadSizeThreshold: storeFrom}
	}
	return co, nil
}

// Close ends the connection.
func (c *Client) Close() { c.temporal.Close() }

// queue returns the task queue of a version of a file.
func (c *Client) queue(digest string) string {
	return fmt.Sprintf("%s:%d.%.16s", c.options.TaskQueue, revision, digest)
}

// maxValue is how many bytes one value of a run may have.
func (c *Client) maxValue() int {
	if c.options.Storage != "" {
		return MaxStoredValue
	}
	return MaxValue
}
