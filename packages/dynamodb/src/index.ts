export { DynamodbGuard } from './dynamodb-guard.js'
export { dynamodbLease } from './dynamodb-lease.js'
export { DynamodbLeaseStore, type DynamodbLeaseStoreOptions } from './dynamodb-lease-store.js'
export { type DynamodbOptions, dynamodbOptions } from './dynamodb-options.js'
