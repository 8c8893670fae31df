import { type OptionsOf, ProviderOptions } from '@leasehold/core/store'

/** The options of the block `leasehold.postgres`. After a change: `npm run docs:options`. */
export const postgresOptions = new ProviderOptions('postgres', {
  path: { type: 'text', description: 'Where the leases are kept.' },
})

export type PostgresOptions = OptionsOf<(typeof postgresOptions)['declarations']>
