import { type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

/** The options of the block `leasehold.s3`. After a change: `npm run docs:update`. */
export const s3Options = new ProviderOptions('s3', {
  path: { type: 'text', description: 'Where the leases are kept.' },
})

export type S3Options = OptionsOf<(typeof s3Options)['declarations']>
