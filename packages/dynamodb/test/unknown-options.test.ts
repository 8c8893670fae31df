import { DynamodbGuard, DynamodbLeaseStore } from '@leasehold/dynamodb'
import { describe, expect, it } from 'vitest'
import { clientOf } from './support/table-server.js'

const client = clientOf('http://127.0.0.1:1')

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['DynamodbLeaseStore', 'tabel', 'table', (o: object) => new DynamodbLeaseStore(client, o)],
    ['DynamodbGuard', 'tabel', 'table', (o: object) => new DynamodbGuard(client, o)],
    [
      'condition',
      'nativ',
      'native',
      (o: object) => new DynamodbLeaseStore(client).condition({ name: 'a', fencingToken: 1n }, o as never),
    ],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})

describe('an option', () => {
  it.each<[object, string]>([
    [{ table: '' }, "table must be a name, such as 'leases'"],
    [{ table: 7 }, "table must be a name, such as 'leases'"],
    [{ partitionKey: '' }, "the name of the table's partition key"],
    [{ partitionKey: 'version' }, "partitionKey cannot be 'version'"],
    [{ clockDifference: -1 }, 'clockDifference'],
    [{ clockDifference: Number.NaN }, 'clockDifference'],
    [{ globalTable: 'yes' }, "globalTable must be 'refuse' or 'one-region'"],
  ])('that is not valid, %o, is refused', (options, message) => {
    expect(() => new DynamodbLeaseStore(client, options)).toThrow(
      expect.objectContaining({ name: 'LeaseConfigurationError', message: expect.stringContaining(message) }),
    )
  })

  it.each([undefined, {}, { region: 'us-east-1' }, { get: () => {}, put: () => {} }])(
    'in the place of the client, %o, is refused',
    (other) => {
      for (const use of [(o: never) => new DynamodbLeaseStore(o), (o: never) => new DynamodbGuard(o)]) {
        expect(() => use(other as never)).toThrow(/the first argument must be a DynamoDBClient/)
      }
    },
  )
})
