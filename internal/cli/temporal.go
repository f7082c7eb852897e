package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/config"
)

// Engines that drive runs.
const (
	engineLocal    = "local"
	engineTemporal = "temporal"
)

// Variables of durable runs: the key that seals what is kept on Temporal; the API key
// of Temporal Cloud, the address and the namespace, as Temporal's own commands read
// them. Flags win.
const (
	keyVariable       = "MCPGRAPH_KEY"
	apiKeyVariable    = "TEMPORAL_API_KEY"
	addressVariable   = "TEMPORAL_ADDRESS"
	namespaceVariable = "TEMPORAL_NAMESPACE"
)

// connectTimeout is how long the first connection to Temporal may take.
const connectTimeout = 10 * time.Second

// temporalOptions say how Temporal is reached.
type temporalOptions struct {
	address, namespace, queue, storage string
	tls                                bool
	ca, cert, key, serverName          string
	apiKey                             string // of the file
	lazy                               bool   // connect with the first request
	leave                              func() bool
}

func (o *temporalOptions) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.address, "temporal", "", "reach Temporal at `HOST:PORT`; default localhost:7233")
	flags.StringVar(&o.namespace, "namespace", "", "use this `NAMESPACE` of Temporal; default default")
	flags.StringVar(&o.queue, "task-queue", "", "begin the names of all task queues with `NAME`; default mcpgraph")
	flags.StringVar(&o.storage, "storage", "", "keep large values in `FOLDER`, which all workers share")
	flags.BoolVar(&o.tls, "temporal-tls", false, "connect to Temporal with TLS")
	flags.StringVar(&o.ca, "temporal-ca", "", "trust the certificate authorities in `FILE`; implies --temporal-tls")
	flags.StringVar(&o.cert, "temporal-cert", "", "authenticate with the certificate in `FILE`; implies --temporal-tls")
	flags.StringVar(&o.key, "temporal-key", "", "the private key of --temporal-cert is in `FILE`")
	flags.StringVar(&o.serverName, "temporal-server-name", "", "expect this `NAME` in Temporal's certificate; implies --temporal-tls")
}

// engineFlag sets which engine drives runs.
func engineFlag(cmd *cobra.Command, engine *string) {
	cmd.Flags().StringVar(engine, "engine", "", "drive runs by this `ENGINE`: local or temporal; default: as the file says, else local")
	_ = cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions([]string{engineLocal, engineTemporal}, cobra.ShellCompDirectiveNoFileComp))
}

// of returns the options with what the file sets and the flags do not.
func (o temporalOptions) of(file *config.File) temporalOptions {
	if file == nil || file.Engine == nil {
		return o
	}
	e := file.Engine
	o.address, o.namespace = cmp.Or(o.address, e.Address), cmp.Or(o.namespace, e.Namespace)
	o.queue, o.storage, o.apiKey = cmp.Or(o.queue, e.TaskQueue), cmp.Or(o.storage, e.Storage), e.APIKey
	if t := e.TLS; t != nil {
		o.tls, o.ca, o.serverName = true, cmp.Or(o.ca, t.CA), cmp.Or(o.serverName, t.ServerName)
		if o.cert == "" {
			o.cert, o.key = t.Cert, t.Key
		}
	}
	return o
}

// readFor reads the file whose tools an engine runs, and reports whether that is Temporal.
// A program that does not link Temporal becomes the one that does; nothing but a file on
// stdin was read then.
func readFor(ctx context.Context, a *app, o *temporalOptions, engine, path string, opts ...mcpgraph.Option) (source *mcpgraph.Source, durable bool, err error) {
	if engine == engineTemporal {
		if err := needTemporal(a); err != nil {
			return nil, true, err
		}
	}
	if source, err = a.read(ctx, path, opts...); err != nil {
		return nil, false, failed(err)
	}
	if durable, err = o.isTemporal(engine, source.File()); err == nil && durable {
		err = needTemporal(a)
	}
	return source, durable, err
}

// isTemporal reports whether Temporal drives runs, as the flag or else the file says.
// The error is about the flags. file may be nil.
func (o *temporalOptions) isTemporal(engine string, file *config.File) (bool, error) {
	switch {
	case engine == engineTemporal, engine == "" && file != nil && file.Engine != nil:
		return true, nil
	case engine != "" && engine != engineLocal:
		return false, usagef("--engine is %q; expected local or temporal", engine)
	case o.isSet():
		return false, usagef("the flags for Temporal need --engine temporal")
	}
	return false, nil
}

// isSet reports whether a flag was set.
func (o *temporalOptions) isSet() bool {
	return o.address+o.namespace+o.queue+o.storage+o.ca+o.cert+o.key+o.serverName != "" || o.tls
}

// dialTemporal connects to Temporal, after needTemporal.
func dialTemporal(ctx context.Context, a *app, o temporalOptions, log *slog.Logger) (DurableRuns, error) {
	secured, err := o.tlsConfig(ctx)
	if err != nil {
		return nil, err
	}
	options := TemporalOptions{
		Address: cmp.Or(o.address, a.environ[addressVariable]), Namespace: cmp.Or(o.namespace, a.environ[namespaceVariable]), TaskQueue: o.queue, TLS: secured, Storage: o.storage, Log: log,
		Lazy: o.lazy, Leave: o.leave,
	}
	if key, ok := a.getenv(keyVariable); ok && key != "" {
		options.Key = []byte(key)
	}
	if key := cmp.Or(a.environ[apiKeyVariable], o.apiKey); key != "" {
		if options.APIKey = key; secured == nil {
			options.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	client, err := a.linked(ctx, options)
	if err != nil {
		return nil, failedf("%w", err)
	}
	return client, nil
}

// tlsConfig returns the settings of TLS, nil without it.
func (o *temporalOptions) tlsConfig(ctx context.Context) (*tls.Config, error) {
	if o.key != "" && o.cert == "" || o.cert != "" && o.key == "" {
		return nil, usagef("--temporal-cert and --temporal-key need each other")
	}
	if !o.tls && o.ca == "" && o.cert == "" && o.serverName == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.serverName}
	if o.ca != "" {
		text, err := unlessSignalled(ctx, func() ([]byte, error) { return boundedfile.Read(o.ca) })
		if err != nil {
			return nil, failedf("--temporal-ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, failedf("--temporal-ca: %s has no certificate", o.ca)
		}
	}
	if o.cert != "" {
		pair, err := tls.LoadX509KeyPair(o.cert, o.key)
		if err != nil {
			return nil, failedf("--temporal-cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
