package main

import (
	"os"

	"go.temporal.io/server/common/config"
	tlog "go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/schema/sqlite"
)

// prepare makes a database that is a new file. One that was there may be that of a
// server which was killed.
func prepare(database *config.SQL, file string) error {
	if file == "" {
		return nil
	}
	if _, err := os.Stat(file); os.IsNotExist(err) {
		return sqlite.SetupSchema(database)
	} else if err != nil {
		return err
	}
	return forgetMembers(database)
}

// forgetMembers removes the services of the server before, which had other ports. For as
// long as they are taken for healthy, requests are sent to them.
func forgetMembers(database *config.SQL) error {
	db, err := sql.NewSQLAdminDB(sqlplugin.DbKindUnknown, database, resolver.NewNoopResolver(), tlog.NewNoopLogger(), metrics.NoopMetricsHandler)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.Exec("DELETE FROM cluster_membership")
}
