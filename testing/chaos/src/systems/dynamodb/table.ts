import { DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** Of the leases, the fences and the registers. */
export const TABLE = 'leases'

/** Without retries of its own. Moto takes any keys. */
export function clientOf(endpoint: string): DynamoDBClient {
  const credentials = { accessKeyId: 'key', secretAccessKey: 'secret' }
  return new DynamoDBClient({ endpoint, region: 'us-east-1', credentials, maxAttempts: 1 })
}
