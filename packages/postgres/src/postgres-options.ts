import { misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('postgres')

/** The options of a block with `lease-class = "@leasehold/postgres"`. */
export const postgresOptions = new ProviderOptions('postgres', {
  url: {
    type: 'secret',
    description:
      '`postgres://[user[:password]@]host[:port]/database[?sslmode=require]`. Without it, the variables `PGHOST`, ' +
      '`PGUSER`, `PGPASSWORD` and so on.',
  },
  password: { type: 'secret', description: 'The password, unless the URL has it.' },
  caFile: {
    type: 'text',
    description: 'A PEM file with certificates that TLS trusts in addition to those of the system. Turns TLS on.',
  },
  schema: { type: 'text', default: '"leasehold"', description: 'The schema of the tables.' },
  table: {
    type: 'text',
    default: '"leases"',
    description: 'The name of the table, and the beginning of the names of its other tables and functions.',
  },
  poolSize: { type: 'number', default: '4', description: 'How many connections the store opens for its operations.' },
  listen: {
    type: 'switch',
    default: 'on',
    description:
      'Whether waiters are notified over one more connection, by LISTEN. Without it they poll: turn it off behind a ' +
      'PgBouncer in transaction mode, or set `listenUrl`.',
  },
  listenUrl: {
    type: 'secret',
    description: 'The URL for the connection with LISTEN: of the server itself, where `url` leads to a PgBouncer.',
  },
  compat: {
    type: 'choice',
    words: ['pg-advisory-lock'],
    description:
      'Holds an advisory lock with the `hashtext` of the name together with each lease, while processes that still use it are replaced.',
  },
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. */
export type PostgresOptions = OptionsOf<(typeof postgresOptions)['declarations']>
