import type { Clock } from '@leasehold/core'
import { providerFactory } from '@leasehold/core/store-kit'
import { DynamodbLeaseStore } from './dynamodb-lease-store.js'
import { type DynamodbOptions, dynamodbOptions } from './dynamodb-options.js'

/** A store that closes its own client. */
class ConfiguredStore extends DynamodbLeaseStore {
  readonly #destroy: () => void

  constructor(
    client: ConstructorParameters<typeof DynamodbLeaseStore>[0] & { destroy(): void },
    options: DynamodbOptions & { readonly clock?: Clock | undefined },
  ) {
    super(client, options)
    this.#destroy = () => client.destroy()
  }

  override async close(): Promise<void> {
    await super.close()
    this.#destroy()
  }
}

/**
 * The factory of leases that `lease-class = "@leasehold/dynamodb"` names. All leases of one provider with the same options
 * share a store and its client, which finds region and credentials as the SDK does everywhere.
 */
export const dynamodbLease = providerFactory(dynamodbOptions, async ({ region, endpoint, ...values }, { clock }) => {
  const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb')
  const client = new DynamoDBClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
  })
  return new ConfiguredStore(client, { ...values, clock })
})
