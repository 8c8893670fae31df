import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

/** Runs a program until it ends by itself. Returns what it has printed. */
async function run(program: string): Promise<string> {
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, options, { cwd: root, timeout: 60_000 })
  return stdout.trim()
}

const SETUP = `
import { httpTransport } from '@leasehold/sharding'
// As a region does that waits.
const hold = setInterval(() => {}, 60_000)
const transport = httpTransport({ address: 'http://127.0.0.1:0' })
const sender = { owner: 'a', address: 'http://127.0.0.1:1' }
const messages = [{ kind: 'event', shard: 0, entity: 'a', event: 1 }]
const batch = { protocol: 1, region: 'accounts', shards: 1, sender, run: 'run', sequence: 1, messages }
await transport.listen('accounts', async () => [{ outcome: 'accepted' }])
console.log((await transport.send(transport.address, batch, AbortSignal.timeout(10_000)))[0].outcome)
clearInterval(hold)
`

test('a process with an open transport ends when it has nothing else to do', async () => {
  expect(await run(SETUP)).toBe('accepted')
})

test('a process ends after close, with a batch under way to a process that says nothing', async () => {
  const program = `
import { createServer } from 'node:net'
${SETUP}
const silent = createServer(() => {}).listen(0, '127.0.0.1', async () => {
  const address = 'http://127.0.0.1:' + silent.address().port
  const sent = transport.send(address, batch, new AbortController().signal)
  silent.once('connection', () => setTimeout(async () => {
    await transport.close('accounts')
    console.log(await sent.catch((error) => error.code))
    silent.close()
    silent.unref()
  }, 100))
})
`
  expect(await run(program)).toBe('accepted\nunknown')
})
