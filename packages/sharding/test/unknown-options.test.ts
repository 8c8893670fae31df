import { MemoryLeaseStore } from '@leasehold/core'
import { httpTransport, ShardRegion, Singleton } from '@leasehold/sharding'
import { fileState } from '@leasehold/sharding/local'
import { entityMigrations, migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import { redisState } from '@leasehold/sharding/redis'
import { MemoryNetwork, memoryState, memoryTransport, TestRegion, testRegion } from '@leasehold/sharding/testing'
import { temporaryFolder } from '@leasehold/testing'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { describe, expect, it } from 'vitest'
import { createMachine } from 'xstate'

const store = new MemoryLeaseStore()
const machine = createMachine({})
const redis = (): Redis => new Redis({ lazyConnect: true })

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    [
      'ShardRegion',
      'entitty',
      'entity',
      (o: object) => new ShardRegion(store, { name: 'r', shards: 2, ...o } as never),
    ],
    ['ShardRegion', 'heartbeatTimout', 'heartbeatTimeout', (o: object) => new ShardRegion(store, o as never)],
    ['Singleton', 'acter', 'actor', (o: object) => new Singleton(store, { name: 's', ...o } as never)],
    ['httpTransport', 'secrt', 'secret', (o: object) => httpTransport({ address: 'http://127.0.0.1:1', ...o })],
    ['postgresState', 'maxByte', 'maxBytes', (o: object) => postgresState(new Pool(), o)],
    ['redisState', 'prefx', 'prefix', (o: object) => redisState(redis(), o)],
    ['fileState', 'mod', 'mode', (o: object) => fileState(temporaryFolder(), o)],
    ['testRegion', 'proceses', 'processes', (o: object) => testRegion({ entity: machine, ...o })],
    ['TestRegion', 'sed', 'seed', (o: object) => new TestRegion({ entity: machine, ...o })],
    ['MemoryNetwork', 'los', 'loss', (o: object) => new MemoryNetwork(o)],
    ['memoryTransport', 'adress', 'address', (o: object) => memoryTransport(o as never)],
    ['memoryState', 'timout', 'timeout', (o: object) => memoryState(o)],
  ] as [string, string, string, (options: object) => unknown][])('%s: %s, meant is %s', (taker, option, meant, use) => {
    // Users call the function.
    const named = taker === 'TestRegion' ? 'testRegion' : taker
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${named} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })

  it.each([
    ['migrateEntities', 'schma', 'schema', (o: object) => migrateEntities(new Pool(), o)],
    ['entityMigrations', 'tabel', 'table', (o: object) => entityMigrations(o)],
  ] as [string, string, string, (options: object) => Promise<unknown>][])(
    '%s: %s, meant is %s',
    async (taker, option, meant, use) => {
      await expect(use({ [option]: 1 })).rejects.toMatchObject({
        name: 'LeaseConfigurationError',
        message: `${taker} has no option '${option}': did you mean '${meant}'?`,
      })
    },
  )
})
