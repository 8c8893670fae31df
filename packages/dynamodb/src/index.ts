export { DynamodbGuard, type DynamodbWrite } from './dynamodb-guard.js'
export { dynamodbLease } from './dynamodb-lease.js'
export { DynamodbLeaseStore, type LeaseUnderToken } from './dynamodb-lease-store.js'
export {
  type DynamodbClient,
  type DynamodbLeaseStoreOptions,
  type DynamodbOptions,
  type DynamodbTableOptions,
  dynamodbOptions,
} from './dynamodb-options.js'
export type { LeaseCondition } from './lease-condition.js'
