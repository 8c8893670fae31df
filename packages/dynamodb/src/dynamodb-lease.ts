import { providerFactory } from '@leasehold/core/store-kit'
import { DynamodbLeaseStore } from './dynamodb-lease-store.js'
import { dynamodbOptions } from './dynamodb-options.js'

/** The factory of leases that `lease-class = "@leasehold/dynamodb"` names. */
export const dynamodbLease = providerFactory(dynamodbOptions, (values, { clock }) => new DynamodbLeaseStore({ ...values, clock }))
