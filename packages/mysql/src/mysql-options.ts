import { misconfiguredFor, type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

export const misconfigured = misconfiguredFor('mysql')

/** The options of a block with `lease-class = "@leasehold/mysql"`. After a change: `npm run docs:update`. */
export const mysqlOptions = new ProviderOptions('mysql', {
  url: {
    type: 'secret',
    default: '"mysql://localhost"',
    description: '`mysql://[user[:password]@]host[:port][/database]`, also for MariaDB.',
  },
  password: { type: 'secret', description: 'The password, unless the URL has it.' },
  caFile: {
    type: 'text',
    description: 'A PEM file with certificates that TLS trusts in addition to those of the system. Turns TLS on.',
  },
  database: { type: 'text', description: 'The database of the tables, unless it is the one of the URL.' },
  table: {
    type: 'text',
    default: '"leasehold_leases"',
    description: 'The name of the table, and the beginning of the names of the other two.',
  },
  poolSize: { type: 'number', default: '4', description: 'How many connections the store opens.' },
})

/** The options of a block, in the camel case of the code; absent options are `undefined`. */
export type MysqlOptions = OptionsOf<(typeof mysqlOptions)['declarations']>
