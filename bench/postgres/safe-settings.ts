/** The settings of PostgreSQL, as on a server whose data matter. */
export const safeSettings = {
  fsync: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB',
  max_connections: 300,
  // The default is a minute.
  autovacuum_naptime: '1s',
}
