import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { TcpProxy } from '@leasehold/testkit'
import { describe, it } from 'vitest'
import { Family, startStubborn } from '../support/family.js'
import { leaseFolder, leasehold, start, written } from '../support/leasehold-program.js'

/** `CUTS=100 npm test -- packages/cli/test/run/cuts` for more. */
const CUTS = Number(process.env.CUTS ?? 10)

const TIMES = ['--ttl', '8s', '--timeout', '1s', '--kill-after', '1s']

const ways: readonly ((proxy: TcpProxy) => void)[] = [
  (proxy) => proxy.blackHole(),
  (proxy) => proxy.dropResponses(),
  (proxy) => {
    proxy.refuse()
    proxy.reset()
  },
]

describeRedis('leasehold run on a server', () => {
  describe.concurrent('whose connection is cut', () => {
    it.for(Array.from({ length: CUTS }, (_, cut) => cut))(
      'ends all processes before another machine can start, cut %i',
      async (cut, test) => {
        const folder = leaseFolder(test)
        const server = await RedisServer.start()
        test.onTestFinished(() => server.stop())
        const proxy = await TcpProxy.to(server.port)
        test.onTestFinished(() => proxy.close())
        const family = new Family(test)
        const far = ['-s', `redis://127.0.0.1:${proxy.port}`]
        const holder = await startStubborn(['run', 'x', ...TIMES, ...far], family, { folder, test })
        const other = leasehold(['run', 'x', '-s', `redis://127.0.0.1:${server.port}`, '--', ...family.look], {
          folder,
        })
        ways[cut % ways.length]?.(proxy)
        test.expect(await other).toMatchObject({ code: 0, output: 'looked\n' })
        test.expect(family.alive()).toEqual([])
        const ended = await holder.ended
        test.expect(ended.code).toBe(79)
        test.expect(ended.errors).toContain("the lease 'x' was lost (its heartbeats were not confirmed in time)")
      },
    )
  })

  it('that hangs: returns 69 with --try, and starts nothing', async (test) => {
    const folder = leaseFolder(test)
    const server = await RedisServer.start()
    test.onTestFinished(() => server.stop())
    server.freeze()
    const store = ['-s', `redis://127.0.0.1:${server.port}`, '--timeout', '500ms']
    const ended = await leasehold(['run', 'x', '--try', ...store, '--', 'echo', 'started'], { folder })
    test.expect(ended).toMatchObject({ code: 69, output: '' })
  })

  it('that hangs at the end: returns the exit code of the command', async (test) => {
    const folder = leaseFolder(test)
    const server = await RedisServer.start()
    test.onTestFinished(() => server.stop())
    const store = ['-s', `redis://127.0.0.1:${server.port}`, '--timeout', '500ms']
    const started = start(['run', 'x', ...store, '--', 'sh', '-c', 'echo ready; sleep 1; exit 5'], { folder })
    await written(started, /ready/)
    server.freeze()
    test.expect(await started.ended).toMatchObject({ code: 5 })
  })
})
