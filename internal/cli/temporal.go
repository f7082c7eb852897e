package cli

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

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
	cmd.Flags().StringVar(engine, "engine", engineLocal, "drive runs by this `ENGINE`: local or temporal")
	_ = cmd.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions([]string{engineLocal, engineTemporal}, cobra.ShellCompDirectiveNoFileComp))
}

// isTemporal reports whether Temporal drives runs. The error is about the flags.
func (o *temporalOptions) isTemporal(engine string) (bool, error) {
	switch engine {
	case engineTemporal:
		return true, nil
	case engineLocal, "":
		if *o != (temporalOptions{}) {
			return false, usagef("the flags for Temporal need --engine temporal")
		}
		return false, nil
	}
	return false, usagef("--engine is %q; expected local or temporal", engine)
}

// dial connects to Temporal.
func (a *app) dial(ctx context.Context, o temporalOptions, log *slog.Logger) (*durable.Client, error) {
	secured, err := o.tlsConfig()
	if err != nil {
		return nil, err
	}
	options := durable.Options{
		Address: cmp.Or(o.address, a.environ[addressVariable]), Namespace: cmp.Or(o.namespace, a.environ[namespaceVariable]), TaskQueue: o.queue, TLS: secured, Storage: o.storage, Log: log,
	}
	if key, ok := a.getenv(keyVariable); ok && key != "" {
		options.Key = []byte(key)
	}
	if key, ok := a.getenv(apiKeyVariable); ok && key != "" {
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
func (o *temporalOptions) tlsConfig() (*tls.Config, error) {
	if o.key != "" && o.cert == "" || o.cert != "" && o.key == "" {
		return nil, usagef("--temporal-cert and --temporal-key need each other")
	}
	if !o.tls && o.ca == "" && o.cert == "" && o.serverName == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.serverName}
	if o.ca != "" {
		text, err := os.ReadFile(o.ca)
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
