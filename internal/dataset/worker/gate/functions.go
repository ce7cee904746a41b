package gate

import "strings"

// denied are the functions that no expression may call, by what they reach. All
// others of the engine compute a value from their arguments; testdata/functions.txt
// has each with its decision, and a test compares that with the engine, so that a
// new one is decided before it ships.
var denied = families(
	family{"It reads settings or the state of the session", `
		current_setting getvariable getenv in_search_path setseed
		current_query current_query_id current_connection_id current_transaction_id txid_current`},
	family{"It changes or reads a sequence", `nextval currval lastval setval`},
	family{"It reads or writes the log", `write_log parse_duckdb_log_message`},
	family{"It waits", `sleep_ms pg_sleep`},
	family{"It runs or takes apart SQL from a string", `
		json_serialize_sql json_deserialize_sql json_serialize_plan json_execute_serialized_sql
		query query_table sql_auto_complete check_peg_parser`},
	family{"It shows the engine's storage", `get_block_size stats vector_type seq_scan`},
	// These take an aggregate's inner state, which is memory of the engine.
	family{"It is internal to the engine", `finalize combine`},
	family{"It reads files", `glob sniff_csv sniff_json st_read`},
)

// deniedPrefixes are families of which new members come with every extension.
var deniedPrefixes = []family{
	{"It reads or writes files", "read_ write_blob write_csv write_parquet parquet_ copy_ load_ attach_"},
	{"It shows settings or the state of the engine", "duckdb_ pragma_ which_"},
	{"It changes the engine", "enable_ disable_ checkpoint force_checkpoint truncate_"},
	{"It is internal to the engine", "__internal_ test_ arrow_scan"},
	{"It reaches other systems", "http_ postgres_ mysql_ sqlite_ iceberg_ delta_ ducklake_ s3_"},
}

// tableFunctions are all that FROM may call.
var tableFunctions = set(`
	range generate_series unnest repeat repeat_row json_each json_tree summary
	histogram histogram_values icu_calendar_names pg_timezone_names
	duckdb_tables duckdb_columns duckdb_views duckdb_schemas duckdb_types duckdb_functions
	duckdb_keywords duckdb_constraints duckdb_indexes
`)

// takesTable are the table functions whose first argument is a table's name.
var takesTable = set(`histogram histogram_values`)

// looksAtCatalog are the functions whose answer depends on which tables are there.
var looksAtCatalog = set(`
	duckdb_tables duckdb_columns duckdb_views duckdb_constraints duckdb_indexes
	pg_get_constraintdef pg_get_viewdef format_type
`)

// systemViews are the views of the engine, by schema as written, that show the
// datasets' tables and columns and nothing of the machine.
var systemViews = map[string]map[string]bool{
	"":                   set(mainViews + pgViews),
	"main":               set(mainViews),
	"pg_catalog":         set(pgViews),
	"information_schema": set(schemaViews),
}

const (
	mainViews = `
		duckdb_columns duckdb_constraints duckdb_indexes duckdb_schemas duckdb_tables duckdb_types duckdb_views
		sqlite_master sqlite_schema sqlite_temp_master sqlite_temp_schema `
	pgViews = `
		pg_am pg_attrdef pg_attribute pg_class pg_collation pg_constraint pg_depend pg_description pg_enum pg_index
		pg_indexes pg_namespace pg_proc pg_tables pg_tablespace pg_type pg_views `
	schemaViews = `
		character_sets check_constraints columns constraint_column_usage constraint_table_usage key_column_usage
		referential_constraints schemata table_constraints tables views `
)

// otherViews are the views of the engine that a plain name may not mean.
var otherViews = set(`
	duckdb_databases duckdb_logs pragma_database_list
	pg_database pg_prepared_statements pg_sequence pg_sequences pg_settings
`)

type family struct{ why, names string }

func families(list ...family) map[string]string {
	m := map[string]string{}
	for _, f := range list {
		for name := range strings.FieldsSeq(f.names) {
			m[name] = f.why
		}
	}
	return m
}

// scalar looks at a function in an expression, by its name in lower case: a schema
// before it may as well be a column whose value the function takes.
func scalar(function string) *Error {
	why := denied[function]
	for _, f := range deniedPrefixes {
		for prefix := range strings.FieldsSeq(f.names) {
			if why == "" && strings.HasPrefix(function, prefix) {
				why = f.why
			}
		}
	}
	if why == "" {
		return nil
	}
	return refuse("The function %s is not allowed. %s; a query may only compute on datasets.", quote(function), why)
}
