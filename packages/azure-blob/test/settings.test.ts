import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { ContainerSASPermissions } from '@azure/storage-blob'
import { type AzureBlobLease, azureBlobLease } from '@leasehold/azure-blob'
import { parseHocon } from '@leasehold/config'
import { LeaseConfigurationError, LeaseProvider, StoreLease } from '@leasehold/core'
import { afterAll, describe, expect, it } from 'vitest'
import { ACCOUNT, ACCOUNT_KEY, Azurite } from './support/azurite.js'

const azurite = await Azurite.start()
afterAll(() => azurite.stop())
const endpoint = `http://127.0.0.1:${azurite.port}/${ACCOUNT}`

const times = { 'heartbeat-timeout': '30s', 'heartbeat-interval': '5s', 'lease-operation-timeout': '5s' }
const factories = { 'azure-blob': azureBlobLease }

/** A provider of leases with this block. */
function provide(block: object): LeaseProvider {
  return new LeaseProvider({ job: { 'lease-class': 'azure-blob', ...times, ...block } }, factories)
}

async function sasToken(container: string): Promise<string> {
  const client = azurite.container(container)
  await client.createIfNotExists()
  const url = await client.generateSasUrl({
    permissions: ContainerSASPermissions.parse('rcwdl'),
    expiresOn: new Date('2100-01-01'),
  })
  return new URL(url).search
}

/** All that can be seen of a thing by showing it. */
function shown(thing: unknown): string {
  return [inspect(thing, { depth: 20, showHidden: false }), JSON.stringify(thing), String(thing)].join('\n')
}

describe('a lease of a configuration', () => {
  it.each([
    { way: 'a connection string', block: async () => ({ 'connection-string': azurite.connectionString() }) },
    { way: 'a key', block: async () => ({ account: ACCOUNT, endpoint, 'account-key': ACCOUNT_KEY }) },
    { way: 'a SAS token', block: async () => ({ endpoint, 'sas-token': await sasToken('leases') }) },
  ])('is acquired by $way', async ({ block }) => {
    await using provider = provide(await block())
    const lease = (await provider.getLease(`by ${randomUUID()}`, 'job')) as AzureBlobLease
    expect(await lease.acquire({ wait: 10_000 })).toBe(true)
    expect(lease.conditions()).toEqual({ leaseId: expect.any(String) })
    expect(lease.blob.containerName).toBe('leases')
  })

  it('is on a container of its own, with resource = container', async () => {
    await using provider = provide({ 'connection-string': azurite.connectionString(), resource: 'container' })
    const lease = (await provider.getLease('own', 'job')) as AzureBlobLease
    expect(await lease.acquire({ wait: 10_000 })).toBe(true)
    expect((await azurite.container('lease-own').getProperties()).leaseState).toBe('leased')
    expect(() => lease.blob).toThrow(/on containers/)
  })

  it('is on the own blob, without a record, with names = exact and metadata = off', async () => {
    const container = azurite.container('own-blobs')
    await container.create()
    const { etag } = await container.getBlockBlobClient('reports/2024.csv').upload('', 0)
    const block = { 'connection-string': azurite.connectionString(), container: 'own-blobs' }
    await using provider = provide({ ...block, names: 'exact', metadata: 'off', prefix: 'reports/' })
    const lease = (await provider.getLease('2024.csv', 'job')) as AzureBlobLease
    expect(await lease.acquire()).toBe(true)
    expect(await lease.blob.getProperties()).toMatchObject({ leaseState: 'leased', etag })
    const missing = await provider.getLease('2025.csv', 'job')
    await expect(missing.acquire()).rejects.toThrow(/'create' is off/)
  })

  it("is one of Akka's, with layout = akka", async () => {
    const peers = { 'akka-heartbeat-timeout': '20s', 'akka-heartbeat-interval': '2s', 'akka-clock-skew': '1s' }
    await using provider = provide({ 'connection-string': azurite.connectionString(), layout: 'akka', ...peers })
    const lease = await provider.getLease('Shared_One', 'job', 'anna')
    expect(lease).toBeInstanceOf(StoreLease)
    expect(await lease.acquire({ wait: 10_000 })).toBe(true)
    const text = await azurite.container('akka-coordination-lease').getBlobClient('shared-one').downloadToBuffer()
    expect(JSON.parse(String(text))).toMatchObject({ Owner: 'anna' })
  })

  it('is made of HOCON, with the connection string from the environment', async () => {
    const text = `
      job = \${leasehold.azure-blob} { connection-string = \${CONNECTION}, container = from-hocon, prefix = "leases/" }
      leasehold.azure-blob { lease-class = azure-blob, heartbeat-timeout = infinite, heartbeat-interval = 10s }
    `
    const config = parseHocon(text, { env: { CONNECTION: azurite.connectionString() } })
    await using provider = new LeaseProvider(config, factories)
    const lease = (await provider.getLease('job', 'job')) as AzureBlobLease
    expect(await lease.acquire({ wait: 10_000 })).toBe(true)
    expect((await azurite.container('from-hocon').getBlobClient('leases/job').getProperties()).leaseDuration).toBe(
      'infinite',
    )
  })

  it('shares its store with the others of the same options, which is closed with the provider', async () => {
    const provider = provide({ 'connection-string': azurite.connectionString(), create: 'off' })
    const lease = await provider.getLease('missing', 'job')
    await expect(lease.acquire()).rejects.toThrow(/'create' is off/)
    await provider.close()
    await expect(lease.acquire()).rejects.toThrow(/closed/)
  })

  it('names its package, and its export is found', async () => {
    const block = { 'lease-class': '@leasehold/azure-blob', 'connection-string': azurite.connectionString() }
    await using provider = new LeaseProvider({ job: { ...times, ...block } })
    await expect(provider.getLease('job', 'job')).resolves.toBeInstanceOf(StoreLease)
  })
})

describe('an invalid block is rejected when it is read', () => {
  const key = { account: ACCOUNT, 'account-key': 'c2VjcmV0' }
  it.each([
    { block: {}, says: /give exactly one of connectionString, accountKey, sasToken and credential: none is given/ },
    { block: { ...key, 'sas-token': 'x' }, says: /accountKey and sasToken are given/ },
    { block: { 'account-key': 'c2VjcmV0' }, says: /accountKey needs account/ },
    { block: { 'account-key': 'c2VjcmV0', endpoint: 'https://x' }, says: /accountKey needs account/ },
    { block: { credential: 'default' }, says: /credential needs account/ },
    { block: { credential: 'default', endpoint: 'http://x' }, says: /endpoint must start with https/ },
    { block: { credential: 'azure-cli', account: 'x' }, says: /credential must be default or managed-identity/ },
    { block: { ...key, endpoint: 'nowhere' }, says: /endpoint must be an address/ },
    { block: { ...key, resource: 'queue' }, says: /resource must be blob or container, not queue/ },
    { block: { ...key, layout: 'pekko' }, says: /layout must be native or akka, not pekko/ },
    { block: { ...key, layout: 'akka', resource: 'container' }, says: /it excludes resource = container/ },
    { block: { ...key, layout: 'akka', names: 'exact' }, says: /leave out names and metadata/ },
    { block: { ...key, layout: 'akka', metadata: 'off' }, says: /leave out names and metadata/ },
    { block: { ...key, layout: 'akka', 'akka-heartbeat-timeout': '20s' }, says: /the Akka side are invalid/ },
    { block: { ...key, 'akka-clock-skew': 'soon' }, says: /akka-clock-skew must be a duration/ },
    { block: { ...key, create: 'perhaps' }, says: /create must be on or off, not perhaps/ },
    { block: { ...key, prefix: [7] }, says: /prefix must be a text, not a list/ },
    { block: { account: ACCOUNT, 'account-key': ['c2VjcmV0'] }, says: /account-key must be a text, not a list/ },
    { block: { 'connection-string': 'c2VjcmV0' }, says: /connectionString is invalid: copy all of it/ },
    {
      block: { ...key, 'heartbeat-timeout': '10s', 'heartbeat-interval': '1s' },
      says: /15000 to 60000 ms, or Infinity: change it/,
    },
    { block: { ...key, 'heartbeat-timeout': '120s' }, says: /15000 to 60000 ms, or Infinity: change it/ },
  ])('$says', async ({ block, says }) => {
    await using provider = provide(block)
    const made = provider.getLease('job', 'job')
    await expect(made).rejects.toThrow(says)
    await expect(made).rejects.toThrow(LeaseConfigurationError)
    await made.catch((error) => expect(shown(error)).not.toContain('c2VjcmV0'))
  })
})

describe('no secret is shown', () => {
  const wrongKey = Buffer.from('a key that is not the right one!').toString('base64')
  const signature = 'bm90LXRoZS1yaWdodC1vbmU='

  it.each([
    {
      way: 'a connection string',
      secret: wrongKey,
      block: { 'connection-string': azurite.connectionString().replace(ACCOUNT_KEY, wrongKey) },
    },
    { way: 'a key', secret: wrongKey, block: { account: ACCOUNT, endpoint, 'account-key': wrongKey } },
    {
      way: 'a SAS token',
      secret: signature,
      block: { endpoint, 'sas-token': `sv=2024-11-04&sr=c&sp=rw&se=2100-01-01&sig=${signature}` },
    },
    {
      way: 'a key, unreachable',
      secret: wrongKey,
      block: { account: ACCOUNT, endpoint: 'http://127.0.0.1:1', 'account-key': wrongKey },
    },
    {
      way: 'a SAS token, unreachable',
      secret: signature,
      block: { endpoint: 'http://127.0.0.1:1', 'sas-token': `sig=${signature}` },
    },
  ])('in an error, a lease or its settings: $way', async ({ secret, block }) => {
    const logged: unknown[] = []
    const log = (...said: unknown[]) => void logged.push(...said)
    const logger = { debug: log, info: log, warn: log, error: log }
    await using provider = new LeaseProvider({ job: { 'lease-class': 'azure-blob', ...times, ...block } }, factories, {
      logger,
    })
    const lease = await provider.getLease('job', 'job')
    const error = await lease.acquire().then(
      () => undefined,
      (failure: Error) => failure,
    )
    expect(error).toBeDefined()
    for (const thing of [error, error?.cause, lease, lease.settings, ...logged]) {
      for (const text of [secret, encodeURIComponent(secret)]) expect(shown(thing)).not.toContain(text)
    }
    // The error has no part of the SDK's request.
    expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(
      /authorization:|'authorization'|SharedKey |x-ms-date/i,
    )
  })
})
