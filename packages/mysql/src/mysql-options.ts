import { type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

/** The options of the block `leasehold.mysql`. After a change: `npm run docs:update`. */
export const mysqlOptions = new ProviderOptions('mysql', {
  path: { type: 'text', description: 'Where the leases are kept.' },
})

export type MysqlOptions = OptionsOf<(typeof mysqlOptions)['declarations']>
