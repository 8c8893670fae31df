import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseHocon } from '@leasehold/config'
import { describe, expect, it } from 'vitest'
import { storeKinds } from '../src/store-kinds.js'
import { configOf, userFolder } from '../src/store-selection.js'
import { configFile } from './support/config-file.js'
import { TestTerminal } from './support/test-terminal.js'

const packages = fileURLToPath(new URL('../..', import.meta.url))

async function blockOf(store: string, env = {}) {
  const terminal = { env } as Parameters<typeof configOf>[1]
  const { config } = await configOf({ store }, terminal)
  const {
    'lease-class': leaseClass,
    'heartbeat-timeout': ttl,
    ...settings
  } = (config as { leasehold: { lease: Record<string, unknown> } }).leasehold.lease
  expect(ttl).toBe('30s')
  return { leaseClass, settings }
}

describe('the URL of a store', () => {
  it.each([
    ['local:/var/lib/leases?mode=770', '@leasehold/local', { folder: '/var/lib/leases', mode: '770' }],
    ['local:///var/a%20b', '@leasehold/local', { folder: '/var/a b' }],
    ['memory:', '@leasehold/core#memoryLease', {}],
    ['redis://me:pw@db:6379/2', '@leasehold/redis', { url: 'redis://me:pw@db:6379/2' }],
    ['rediss://db', '@leasehold/redis', { url: 'rediss://db' }],
    ['postgres://me@db/app?sslmode=require', '@leasehold/postgres', { url: 'postgres://me@db/app?sslmode=require' }],
    ['postgresql://db/app', '@leasehold/postgres', { url: 'postgresql://db/app' }],
    ['mysql://me@db/app', '@leasehold/mysql', { url: 'mysql://me@db/app' }],
    ['mariadb://db/app', '@leasehold/mysql', { url: 'mariadb://db/app' }],
    ['etcd://a:2379,b:2379', '@leasehold/etcd', { endpoints: ['http://a:2379', 'http://b:2379'] }],
    [
      'etcds://me:p%40w@a:2379/?prefix=x/&ca-file=/ca.pem',
      '@leasehold/etcd',
      { endpoints: ['https://a:2379'], username: 'me', password: 'p@w', prefix: 'x/', 'ca-file': '/ca.pem' },
    ],
    ['etcd:', '@leasehold/etcd', {}],
    ['consul://:secret@agent:8500', '@leasehold/consul', { addresses: ['http://agent:8500'], token: 'secret' }],
    [
      'consuls://agent:8501?datacenter=north',
      '@leasehold/consul',
      { addresses: ['https://agent:8501'], datacenter: 'north' },
    ],
    [
      'nats://me:pw@a:4222,b',
      '@leasehold/nats',
      { servers: ['nats://a:4222', 'nats://b'], user: 'me', password: 'pw' },
    ],
    ['tls://a?creds-file=/c', '@leasehold/nats', { servers: ['tls://a'], 'creds-file': '/c' }],
    ['nats:', '@leasehold/nats', {}],
    ['kubernetes:jobs?context=prod', '@leasehold/kubernetes', { namespace: 'jobs', context: 'prod' }],
    ['kubernetes:', '@leasehold/kubernetes', {}],
    [
      's3:leases?region=eu-west-1&prefix=jobs/',
      '@leasehold/s3',
      { bucket: 'leases', region: 'eu-west-1', prefix: 'jobs/' },
    ],
    ['dynamodb:leases?region=eu-west-1', '@leasehold/dynamodb', { table: 'leases', region: 'eu-west-1' }],
    [
      'azure-blob:account?container=c',
      '@leasehold/azure-blob',
      { account: 'account', credential: 'default', container: 'c' },
    ],
  ])('%s is a block of a configuration', async (url, leaseClass, settings) => {
    expect(await blockOf(url, { XDG_STATE_HOME: '/state' })).toEqual({ leaseClass, settings })
  })

  it('local: is the folder of this user', async () => {
    const folder = userFolder({ XDG_STATE_HOME: '/state' })
    expect(await blockOf('local:', { XDG_STATE_HOME: '/state' })).toEqual({
      leaseClass: '@leasehold/local',
      settings: { folder },
    })
    expect(await blockOf('local', { XDG_STATE_HOME: '/state' })).toEqual({
      leaseClass: '@leasehold/local',
      settings: { folder },
    })
    if (process.platform === 'linux') {
      expect(folder).toBe('/state/leasehold/leases')
      expect(userFolder({ HOME: '/home/me' })).toBe('/home/me/.local/state/leasehold/leases')
    }
  })
})

/** The URLs of the tests above name only settings that a provider has. */
describe.each(
  storeKinds.filter(({ leaseClass }) => existsSync(join(packages, leaseClass.slice('@leasehold/'.length)))),
)('the settings of $example', ({ leaseClass, schemes, example }) => {
  it('are in the reference.conf of the provider', async () => {
    const id = leaseClass.slice('@leasehold/'.length)
    const text = readFileSync(join(packages, id, 'reference.conf'), 'utf8')
    const known = Object.keys(
      parseHocon(text.replaceAll(/^( *)# ([a-z-]+ = .*)$/gm, '$1$2'), { env: {} })
        .getConfig(`leasehold.${id}`)
        .toObject(),
    )
    for (const url of [example, `${schemes.at(-1)}://user:password@host:1`]) {
      const { settings } = await blockOf(url)
      expect(known).toEqual(expect.arrayContaining(Object.keys(settings)))
    }
  })
})

describe('a provider that is not installed', () => {
  it('is an error with its install command, if a file names it', async () => {
    const config = configFile('leasehold.lease.lease-class = "@leasehold/absent-provider"')
    const { code, errors } = await new TestTerminal().run(`list -c ${config}`)
    expect([code, errors]).toEqual([78, expect.stringContaining('npm install @leasehold/absent-provider')])
  })
})
