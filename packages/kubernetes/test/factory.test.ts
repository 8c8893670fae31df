import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseProvider, LeaseUnauthorisedError, type Logger } from '@leasehold/core'
import { silentLogger } from '@leasehold/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { akkaLeases, leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { startServer } from './support/open-store.js'

async function providerOn(server: TestApiServer, block: object, token = 'admin') {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'config')
  writeFileSync(file, (await kubeConfigFor(server.port, token)).exportConfig())
  const warn = vi.fn()
  const logger: Logger = { ...silentLogger, warn }
  const config = {
    leasehold: {
      kubernetes: { 'lease-class': '@leasehold/kubernetes', 'kubeconfig-file': file, namespace: 'default', ...block },
    },
  }
  const provider = new LeaseProvider(config, {}, { logger })
  onTestFinished(() => provider.close())
  return { provider, warn }
}

describe('leases by a configuration', () => {
  it('are held in the cluster, in the layout that is set, over one store', async () => {
    const server = await startServer()
    const { provider, warn } = await providerOn(server, { layout: 'akka', 'heartbeat-timeout': '60s', watch: 'off' })
    const [one, other] = [
      await provider.getLease('one', 'leasehold.kubernetes'),
      await provider.getLease('other', 'leasehold.kubernetes'),
    ]
    expect(server.requests.filter(({ path }) => path.includes('selfsubjectaccessreviews')).length).toBe(4)
    expect(await Promise.all([one.acquire(), other.acquire()])).toEqual([true, true])
    expect(server.get(akkaLeases, 'one')?.spec?.owner).toMatch(/^.+_/)
    expect(warn.mock.calls).toEqual([])
  })

  it('are rejected at once if a permission is missing, unless checkAccess is off', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create'])
    const { provider } = await providerOn(server, {}, 'limited')
    await expect(provider.getLease('job', 'leasehold.kubernetes')).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    const unchecked = await providerOn(server, { 'check-access': 'off' }, 'limited')
    await unchecked.provider.getLease('job', 'leasehold.kubernetes')
  })

  it('are created with a warning if the server is away at the start, or watching is not granted', async () => {
    const server = await startServer()
    server.tokens.set('limited', ['get', 'create', 'update'])
    const limited = await providerOn(server, {}, 'limited')
    await limited.provider.getLease('job', 'leasehold.kubernetes')
    expect(limited.warn.mock.calls.flat()).toEqual([expect.stringContaining("'watch' is missing")])
    const away = await providerOn(server, {})
    await server.goAway()
    const lease = await away.provider.getLease('job', 'leasehold.kubernetes')
    expect(away.warn.mock.calls[0]?.[0]).toContain('could not be checked')
    await server.comeBack()
    expect(await lease.acquire()).toBe(true)
    expect(server.get(leases, 'job')).toBeDefined()
  })

  it.each([
    [{ layout: 'lock' }, 'layout must be lease, akka or pekko'],
    [{ layout: 7 }, 'layout must be lease, akka or pekko'],
    [{ watch: 'perhaps' }, 'watch must be on or off'],
    [{ 'max-ttl': 'long' }, 'max-ttl must be a duration'],
    [{ layout: 'akka', 'jvm-heartbeat-timeout': '20s', 'jvm-heartbeat-interval': '8s' }, 'leaves -1000 ms for a lease'],
    [
      { layout: 'akka', 'heartbeat-timeout': '120s' },
      'heartbeatTimeout is 120000 ms, but the kubernetes store accepts 1000 to 91000 ms',
    ],
  ])('are refused where a setting is wrong: %j', async (block, message) => {
    const server = await startServer()
    const { provider } = await providerOn(server, block)
    const asked = provider.getLease('job', 'leasehold.kubernetes')
    await expect(asked).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(asked).rejects.toThrow(message)
  })
})
