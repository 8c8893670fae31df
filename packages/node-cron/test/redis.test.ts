import { LeaseProvider } from '@leasehold/core'
import { LeaseCoordinator } from '@leasehold/node-cron'
import { readRecipe } from '@leasehold/recipes'
import { redisLease } from '@leasehold/redis'
import { silentLogger } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { expect, it, onTestFinished } from 'vitest'

/** A coordinator with a connection of its own, as on another instance, and the errors that it reports. */
async function createInstance(url: string): Promise<{ coordinator: LeaseCoordinator; errors: string[] }> {
  const redis = { 'lease-class': 'redis', url, 'operation-timeout': '1s' }
  const provider = new LeaseProvider({ redis }, { redis: redisLease }, { logger: silentLogger })
  const { store } = await readRecipe(provider, 'once', 'report', 'redis')
  const coordinator = new LeaseCoordinator(store, { logger: silentLogger, operationTimeout: 1_000 })
  const errors: string[] = []
  coordinator.on('error', (error) => errors.push(String(error)))
  onTestFinished(async () => {
    await coordinator.stop({ timeout: 0 }).catch(() => {})
    await provider.close().catch(() => {})
  })
  return { coordinator, errors }
}

const keyOf = (second: number): string => `report:2026-01-01T12:00:0${second}.000Z`

describeRedis('on a real Redis', () => {
  it('one of three instances runs each tick; none while the server is down', async () => {
    const server = await RedisServer.start()
    onTestFinished(() => server.stop())
    const instances = await Promise.all([1, 2, 3].map(() => createInstance(server.url)))
    const runsOf = async (second: number): Promise<number> => {
      const asked = instances.map(async ({ coordinator }) => {
        const isRun = await coordinator.shouldRun(keyOf(second), 30_000)
        await coordinator.onComplete(keyOf(second))
        return isRun
      })
      return (await Promise.all(asked)).filter(Boolean).length
    }
    expect([await runsOf(1), await runsOf(2), await runsOf(2), await runsOf(1)]).toEqual([1, 1, 0, 0])
    await server.kill()
    expect(await runsOf(3)).toBe(0)
    for (const { errors } of instances) expect(errors).toEqual([expect.stringContaining("of 'report' is not run")])
  }, 60_000)

  it('a wrong password is reported, and nothing is run', async () => {
    const server = await RedisServer.start({ password: 'right' })
    onTestFinished(() => server.stop())
    const { coordinator, errors } = await createInstance(server.url.replace('right', 'wrong'))
    expect(await coordinator.shouldRun(keyOf(1), 30_000)).toBe(false)
    expect(errors).toEqual([expect.stringMatching(/^LeaseUn\w+: the tick .* of 'report' is not run: .*password/)])
  }, 60_000)
})
