import type { SqlNames } from '../table-names.js'

/**
 * One row for each name. It stays after the lease has ended, because it keeps the fencing token.
 *
 * Names are bytes: MySQL compares texts of most collations without their trailing spaces. Times are microseconds since 1970 by
 * the clock of the server, so that no time zone and no `sql_mode` changes them.
 *
 * The guard locks an entry of the index `lease_grant`, and not the row: InnoDB locks no row for a shared lock that the index can
 * answer. Renewals and releases change no column of that index, and pass. A new grant changes the grant id, and does not. The
 * index is in the order of time, because MariaDB locks the gap before the entry as well: new entries come after all others.
 */
const leases = (names: SqlNames) => `create table if not exists ${names.leases} (
  name varbinary(1024) not null,
  grant_id varbinary(1024) not null,
  fencing_token bigint not null,
  ttl bigint comment 'milliseconds; null: without an expiry',
  granted_at bigint not null comment 'microseconds since 1970',
  locked_until bigint not null comment 'microseconds since 1970: when the lock of a leased or breaking row ends',
  renewals bigint not null,
  version bigint not null comment 'counts all changes but renewals',
  state varchar(9) character set ascii collate ascii_bin not null comment 'leased, breaking, broken or available',
  owner text character set utf8mb4 collate utf8mb4_bin not null,
  metadata text character set utf8mb4 collate utf8mb4_bin not null,
  break_reason mediumtext character set utf8mb4 collate utf8mb4_bin,
  previous text character set utf8mb4 collate utf8mb4_bin comment 'the metadata that the last holder left',
  previous_reason mediumtext character set utf8mb4 collate utf8mb4_bin,
  primary key (name),
  unique key lease_grant (granted_at, name, grant_id)
) engine = InnoDB row_format = dynamic`

/** The waiters of a name, first come, first served. */
const waiters = (names: SqlNames) => `create table if not exists ${names.waiters} (
  place bigint not null auto_increment,
  name varbinary(1024) not null,
  grant_id varbinary(1024) not null,
  kept_until bigint not null comment 'microseconds since 1970: the place ends then, unless the waiter asks again',
  primary key (place),
  unique key waiter_grant (name, grant_id),
  key waiter_place (name, place)
) engine = InnoDB row_format = dynamic`

/** The largest fencing token that has written a resource. */
const fences = (names: SqlNames) => `create table if not exists ${names.fences} (
  resource varbinary(1024) not null,
  fencing_token decimal(65) not null,
  primary key (resource)
) engine = InnoDB row_format = dynamic`

/** A statement for each table, which can be run again at any time. */
export const tables = { leases, waiters, fences }
