import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { BlobServiceClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore } from '@leasehold/azure-blob'
import { ConsulLeaseStore } from '@leasehold/consul'
import { type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { DynamodbLeaseStore } from '@leasehold/dynamodb'
import { EtcdLeaseStore } from '@leasehold/etcd'
import { KubernetesLeaseStore } from '@leasehold/kubernetes'
import { LocalLeaseStore } from '@leasehold/local'
import { MysqlLeaseStore } from '@leasehold/mysql'
import { NatsLeaseStore } from '@leasehold/nats'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { RedisLeaseStore } from '@leasehold/redis'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { S3LeaseStore } from '@leasehold/s3'
import { temporaryFolder } from '@leasehold/testing'
import { Redis } from 'ioredis'
import { createPool } from 'mysql2/promise'
import { Pool } from 'pg'
import { expect, it } from 'vitest'
import { packages, root } from '../workspaces.js'

const redis = () => new Redis('redis://127.0.0.1:1', { lazyConnect: true })

/** Each store with its own options: none of them connects before its first use. */
const stores: Record<string, () => LeaseStore> = {
  memory: () => new MemoryLeaseStore(),
  local: () => new LocalLeaseStore({ folder: temporaryFolder() }),
  redis: () => new RedisLeaseStore(redis()),
  'redis-quorum': () => new RedisQuorumLeaseStore([redis(), redis(), redis()]),
  postgres: () => new PostgresLeaseStore(new Pool()),
  mysql: () => new MysqlLeaseStore(createPool({ host: '127.0.0.1', port: 1 })),
  etcd: () => new EtcdLeaseStore({ endpoints: ['http://127.0.0.1:1'] }),
  consul: () => new ConsulLeaseStore({ addresses: ['http://127.0.0.1:1'] }),
  nats: () => new NatsLeaseStore({ servers: ['nats://127.0.0.1:1'] }),
  kubernetes: () => new KubernetesLeaseStore(),
  s3: () => new S3LeaseStore({ bucket: 'leases', endpoint: 'http://127.0.0.1:1' }),
  dynamodb: () => new DynamodbLeaseStore(new DynamoDBClient({ region: 'us-east-1' })),
  'azure-blob': () =>
    new AzureBlobLeaseStore(
      BlobServiceClient.fromConnectionString('UseDevelopmentStorage=true').getContainerClient('leases'),
    ),
}

/** The cells of the rows of a page that begin with the name of a store, by that name. */
function rowsOf(page: string): Map<string, string[]> {
  const rows = readFileSync(join(root, page), 'utf8').matchAll(
    /^\| (?:\[(?<linked>[\w-]+)\]\([^)]*\)|(?<name>[\w-]+)) \|(?<cells>.*)\|$/gm,
  )
  return new Map(
    [...rows].map(({ groups = {} }) => [
      groups.linked ?? groups.name ?? '',
      (groups.cells ?? '').split('|').map((cell) => cell.trim()),
    ]),
  )
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, h: 3_600_000, days: 86_400_000, years: 365 * 86_400_000 }

/** A duration such as `15 s`, in milliseconds. */
function duration(text = ''): number {
  const [, amount, unit = ''] = /^(\d+) (ms|s|h|days|years)$/.exec(text) ?? []
  return Number(amount) * (UNITS[unit] ?? Number.NaN)
}

const byChoice = rowsOf('docs/start/which-store.md')
const bySettings = rowsOf('docs/reference/settings.md')

it('knows all providers', () => {
  const others = ['core', 'recipes']
  const providers = packages().filter(
    ({ id, folder }) => !others.includes(id) && existsSync(join(folder, 'reference.conf')),
  )
  expect(Object.keys(stores).sort()).toEqual(['memory', ...providers.map(({ id }) => id)].sort())
})

it('the table by which a store is chosen has the stores, each once', () => {
  const named = [...byChoice].filter(([name, cells]) => name !== 'store' && cells.length === 5).map(([name]) => name)
  expect(named.sort()).toEqual(Object.keys(stores).sort())
})

it.each(Object.entries(stores))('the tables of the documents have the limits of %s', async (name, open) => {
  const store = open()
  const { minTtl, maxTtl, infinite, ordered } = store.limits
  await store.close()
  const [smallest, , , waiters] = byChoice.get(name) ?? []
  expect([duration(smallest), waiters?.split(',')[0]]).toEqual([minTtl, ordered ? 'in order' : 'no order'])
  const [ttl = '', endless = '', isOrdered = '', list = ''] = bySettings.get(name) ?? []
  const [from = '', to = ''] = (ttl.split(/[;,]/)[0] ?? '').split(/ to | and /)
  const unit = to.split(' ')[1] ?? ''
  expect(duration(/ /.test(from) ? from : `${from} ${unit}`)).toBe(minTtl)
  if (to !== 'more') expect(duration(to)).toBe(maxTtl)
  const says = (cell: string) => cell.startsWith('yes')
  expect([says(endless), says(isOrdered), says(list)]).toEqual([infinite, ordered, store.list !== undefined])
})
