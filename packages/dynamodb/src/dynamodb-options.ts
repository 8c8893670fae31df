import { type OptionsOf, ProviderOptions } from '@leasehold/core/store-kit'

/** The options of the block `leasehold.dynamodb`. After a change: `npm run docs:update`. */
export const dynamodbOptions = new ProviderOptions('dynamodb', {
  path: { type: 'text', description: 'Where the leases are kept.' },
})

export type DynamodbOptions = OptionsOf<(typeof dynamodbOptions)['declarations']>
