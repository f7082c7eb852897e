// Temporalserver is a Temporal server for tests: all services in one process,
// SQLite in memory or in a file. It is a module of its own, so that what it is
// made of stays out of the project's dependencies.
//
// It prints its address when it takes requests, and ends with its standard input.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/metrics"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/schema/sqlite"
	"go.temporal.io/server/temporal"
)

const (
	host      = "127.0.0.1"
	namespace = "default"
)

func main() {
	log.SetFlags(0)
	port := flag.Int("port", 0, "the port of the server; 0 chooses one")
	file := flag.String("file", "", "the database; without it, it is in memory")
	paced := flag.Bool("paced", false, "poll the queues 20 times a second, as the development server of Temporal's CLI does")
	flag.Parse()
	server, address, err := start(*port, *file, *paced)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(address)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := server.Stop(); err != nil {
		log.Fatal(err)
	}
}

// start starts a server and waits until it takes requests.
func start(port int, file string, paced bool) (temporal.Server, string, error) {
	ports, err := choosePorts(port)
	if err != nil {
		return nil, "", err
	}
	address := net.JoinHostPort(host, strconv.Itoa(ports[0]))
	settings, database := settingsOf(ports, file)
	if err := prepare(database, file); err != nil {
		return nil, "", err
	}
	known, err := sqlite.NewNamespaceConfig(settings.ClusterMetadata.CurrentClusterName, namespace, false, nil)
	if err != nil {
		return nil, "", err
	}
	if err := sqlite.CreateNamespaces(database, known); err != nil {
		return nil, "", err
	}
	dynamic := dynamicconfig.StaticClient{
		dynamicconfig.ForceSearchAttributesCacheRefreshOnRead.Key(): true,
		dynamicconfig.EnableDeploymentVersions.Key():                true,
	}
	if !paced {
		for _, key := range []dynamicconfig.Key{
			dynamicconfig.TransferProcessorMaxPollRPS.Key(), dynamicconfig.TimerProcessorMaxPollRPS.Key(),
			dynamicconfig.VisibilityProcessorMaxPollRPS.Key(),
		} {
			dynamic[key] = 2000
		}
	}
	server, err := temporal.NewServer(
		temporal.WithConfig(settings),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithLogger(newQuiet()),
		temporal.WithDynamicConfigClient(dynamic),
	)
	if err != nil {
		return nil, "", err
	}
	if err := server.Start(); err != nil {
		return nil, "", err
	}
	return server, address, waitFor(address)
}

// settingsOf returns the settings of a server, and the database among them. The first of
// its ports is that of its clients.
func settingsOf(ports []int, file string) (*config.Config, *config.SQL) {
	database := &config.SQL{
		PluginName:        sqliteplugin.PluginName,
		DatabaseName:      file,
		ConnectAttributes: map[string]string{"mode": "rwc"},
	}
	if file == "" {
		database.DatabaseName = "temporal"
		database.ConnectAttributes = map[string]string{"mode": "memory", "cache": "shared"}
	}
	address := net.JoinHostPort(host, strconv.Itoa(ports[0]))
	disabled := config.NamespaceDefaults{Archival: config.ArchivalNamespaceDefaults{
		History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
		Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
	}}
	return &config.Config{
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: host},
			Metrics: &metrics.Config{Prometheus: &metrics.PrometheusConfig{
				ListenAddress: net.JoinHostPort(host, strconv.Itoa(ports[1])), HandlerPath: "/metrics",
			}},
		},
		Persistence: config.Persistence{
			DefaultStore: "sqlite", VisibilityStore: "sqlite", NumHistoryShards: 1,
			DataStores: map[string]config.DataStore{"sqlite": {SQL: database}},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10, MasterClusterName: "active", CurrentClusterName: "active",
			ClusterInformation: map[string]cluster.ClusterInformation{
				"active": {Enabled: true, InitialFailoverVersion: 1, RPCAddress: address},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		Services: map[string]config.Service{
			"frontend": service(ports[0], ports[2]), "history": service(ports[3], ports[4]),
			"matching": service(ports[5], ports[6]), "worker": service(ports[7], ports[8]),
		},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		PublicClient:      config.PublicClient{HostPort: address},
		NamespaceDefaults: disabled,
	}, database
}

func service(port, membership int) config.Service {
	return config.Service{RPC: config.RPC{GRPCPort: port, MembershipPort: membership, BindOnIP: host}}
}

// usedPorts is how many ports settingsOf needs.
const usedPorts = 9

// choosePorts returns ports that are free, each another one. The first is the given one if
// that is not 0.
func choosePorts(first int) ([]int, error) {
	ports := make([]int, usedPorts)
	for i := range ports {
		wanted := 0
		if i == 0 {
			wanted = first
		}
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(wanted)))
		if err != nil {
			return nil, err
		}
		defer l.Close() // once all are chosen
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// waitFor returns when the server takes requests of clients.
func waitFor(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		c, err := client.DialContext(ctx, client.Options{
			HostPort: address, Namespace: namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
		})
		if err == nil {
			defer c.Close()
			if _, err = c.CheckHealth(ctx, nil); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not take requests: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
