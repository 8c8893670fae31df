import { createServer } from 'node:net'
import { createLease } from '@leasehold/core'
import { eventually } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type StartedCommand, TestTerminal } from './support/test-terminal.js'

const SECRET = 'a-secret-of-the-environment'

/** The address that the command prints. */
async function addressOf({ lines, ended }: StartedCommand): Promise<URL> {
  const early = ended.then(({ errors }) => {
    throw new Error(`it has ended: ${errors}`)
  })
  early.catch(() => {})
  await Promise.race([eventually('the address of the page', async () => lines().length > 0), early])
  return new URL(lines()[0] ?? '')
}

function interrupt(signal: 'SIGINT' | 'SIGTERM'): void {
  process.emit(signal, signal)
}

function asking(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } }
}

describe('leasehold ui', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('serves the page until %s, also with an open stream', async (signal) => {
    const terminal = new TestTerminal()
    const lease = createLease(terminal.open(), 'orders', { owner: 'worker-1' })
    await lease.acquire()
    onTestFinished(async () => void (await lease.release()))
    const command = terminal.start('ui --listen 127.0.0.1:0')
    const address = await addressOf(command)
    const token = /^#token=(.{32})$/.exec(address.hash)?.[1] ?? ''
    expect(address.hostname).toBe('127.0.0.1')
    const detail = await fetch(new URL('api/lease?name=orders', address), asking(token))
    expect(await detail.json()).toMatchObject({ row: { owner: 'worker-1' } })
    expect((await fetch(new URL('api/lease?name=orders', address), asking('wrong'))).status).toBe(401)
    const stream = await fetch(new URL('api/events', address), asking(token))
    const reader = stream.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    expect(first).toContain('"access":"read"')
    interrupt(signal)
    const { code, errors, output } = await command.ended
    expect({ code, errors }).toEqual({ code: 0, errors: '' })
    expect(output.split('\n')).toHaveLength(2)
    await reader?.cancel().catch(() => {})
  })

  it('takes the token of the environment, and does not print it', async () => {
    const command = new TestTerminal({ env: { LEASEHOLD_UI_TOKEN: SECRET } }).start(
      'ui --listen 127.0.0.1:0 --allow-changes',
    )
    const address = await addressOf(command)
    expect(address.hash).toBe('')
    const stream = await fetch(new URL('api/events', address), asking(SECRET))
    const reader = stream.body?.getReader()
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"access":"write"')
    await reader?.cancel()
    interrupt('SIGTERM')
    const { output, errors } = await command.ended
    expect(output + errors).not.toContain(SECRET)
  })

  it('refuses a token that is too short', async () => {
    const { code, errors } = await new TestTerminal({ env: { LEASEHOLD_UI_TOKEN: 'short' } }).run('ui')
    expect(code).toBe(78)
    expect(errors).toContain('LEASEHOLD_UI_TOKEN must have at least 16')
  })

  it('says that the port is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void other.close())
    const { port } = other.address() as { readonly port: number }
    const { code, errors } = await new TestTerminal().run(`ui --listen 127.0.0.1:${port}`)
    expect(code).toBe(78)
    expect(errors).toContain('another program listens there: choose another port with --listen')
  })

  it('warns if other machines can reach it', async () => {
    const command = new TestTerminal().start('ui --listen 0.0.0.0:0')
    const address = await addressOf(command)
    expect(address.hostname).toBe('localhost')
    interrupt('SIGINT')
    const { errors } = await command.ended
    expect(errors).toContain('warning: the page can be reached from other machines')
  })

  it.each(['here', '1.2.3.4:', ':4747', 'a:b', 'localhost:99999', '::1:4747'])(
    'refuses the place %s',
    async (place) => {
      const { code, errors } = await new TestTerminal().run(['ui', '--listen', place])
      expect(code).toBe(64)
      expect(errors).toContain('--listen must be HOST:PORT')
    },
  )
})
