import { type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

/** The options of the block `leasehold.nats`. After a change: `npm run docs:update`. */
export const natsOptions = new ProviderOptions('nats', {
  path: { type: 'text', description: 'Where the leases are kept.' },
})

export type NatsOptions = OptionsOf<(typeof natsOptions)['declarations']>
