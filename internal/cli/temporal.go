package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpgraph/mcpgraph/internal/boundedfile"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/durable"
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
	flags.StringVar(&o.address, "temporal", "", "reach Temporal at `HOST:PORT`; default "+durable.DefaultAddress)
	flags.StringVar(&o.namespace, "namespace", "", "use this `NAMESPACE` of Temporal; default "+durable.DefaultNamespace)
	flags.StringVar(&o.queue, "task-queue", "", "begin the names of all task queues with `NAME`; default "+durable.DefaultTaskQueue)
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

// enginePeek returns the file that runs or serves tools, as far as it can be read, to
// find which engine it asks for.
func (a *app) enginePeek(path string, mcpFiles []string) *config.File {
	read, err := a.reader(context.Background(), path)
	if err != nil {
		return nil // which loading it reports
	}
	file, _, _ := config.Load(shownName(path), mcpFiles, read, config.Options{Getenv: a.getenv, Inputs: a.inputs})
	return file
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

// dial connects to Temporal.
func (a *app) dial(ctx context.Context, o temporalOptions, log *slog.Logger) (*durable.Client, error) {
	secured, err := o.tlsConfig(ctx)
	if err != nil {
		return nil, err
	}
	options := durable.Options{
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
	client, err := durable.Dial(ctx, options)
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
