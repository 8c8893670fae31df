import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { describe, it } from 'vitest'
import { leaseFolder, leasehold, start, written } from '../support/leasehold-program.js'

const NOBODY_LISTENS = 'redis://127.0.0.1:1'

describe.concurrent('leasehold run that waits without a terminal', () => {
  it('says who holds the lease, without the control characters of the owner', async (test) => {
    const folder = leaseFolder(test)
    const owner = 'mallory\u001b[31m\r\u009b\u202e'
    const holder = start(['run', 'x', '--owner', owner, '--', 'sh', '-c', 'echo held; sleep 60'], { folder })
    test.onTestFinished(() => void holder.child.kill('SIGKILL'))
    await written(holder, /held/)
    const waiter = start(['run', 'x', '--', 'true'], { folder })
    await eventually('a notice', async () => waiter.errors().includes('\n'))
    waiter.child.kill('SIGTERM')
    const { errors } = await waiter.ended
    test
      .expect(errors)
      .toMatch(
        /^leasehold: waiting for 'x' for \ds, next in the queue; mallory\\u\{1b\}\[31m\\u\{d\}\\u\{9b\}\\u\{202e\} holds it since [\d-]{10}T[\d:.]+Z\n$/,
      )
  })

  it('says why the store cannot be used, in one line', async (test) => {
    const waiter = start(['run', 'x', '-s', NOBODY_LISTENS, '--', 'true'], { folder: leaseFolder(test) })
    await eventually('a notice', async () => waiter.errors().includes('\n'))
    waiter.child.kill('SIGTERM')
    const { errors, signal } = await waiter.ended
    test.expect(signal).toBe('SIGTERM')
    test.expect(errors).toMatch(/^leasehold: waiting for 'x' for \ds; the store cannot be used: .*ECONNREFUSED.*\n$/)
  })

  it('shows no progress with --quiet, but a store that fails', async (test) => {
    const waiter = start(['run', 'x', '-q', '-s', NOBODY_LISTENS, '--', 'true'], { folder: leaseFolder(test) })
    await eventually('a warning', async () => waiter.errors().includes('\n'))
    waiter.child.kill('SIGTERM')
    const { errors } = await waiter.ended
    test.expect(errors).toMatch(/^leasehold: warning: lease 'x' of .* the store cannot be used: .*ECONNREFUSED.*\n$/)
  })
})

describeRedis('leasehold run with a wrong password', () => {
  it('ends with 77 and says so in one line', async (test) => {
    const server = await RedisServer.start({ password: 'right' })
    test.onTestFinished(() => server.stop())
    const store = `redis://:wrong@127.0.0.1:${server.port}`
    const ended = await leasehold(['run', 'x', '-s', store, '--', 'true'], { folder: leaseFolder(test) })
    test.expect(ended).toMatchObject({ code: 77, output: '' })
    test.expect(ended.errors).toMatch(/^leasehold: .*WRONGPASS.*check the username and the password\n$/)
  })
})
