/** Four processes share the tokens of a user, first each by itself, then with SingleFlight. Exits 0 if it went as it should. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startIdentityProvider } from './identity-provider.js'

/** The longest time that each half may take, in milliseconds. */
const LONGEST = 45_000

const folder = mkdtempSync(join(tmpdir(), 'leasehold-oauth-'))
const children = new Map<string, ChildProcess>()

function start(how: 'own' | 'shared', address: string, onMessage: (text: string) => void): void {
  for (const name of ['anna', 'berta', 'carla', 'dora']) {
    const program = fileURLToPath(new URL('./instance.ts', import.meta.url))
    children.set(
      name,
      fork(program, [how, folder, name, address]).on('message', (text) => onMessage(String(text))),
    )
  }
}

async function until(isTrue: () => boolean): Promise<boolean> {
  for (const end = Date.now() + LONGEST; Date.now() < end; await pause(20)) if (isTrue()) return true
  return false
}

async function endAll(): Promise<void> {
  for (const child of children.values()) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    const cancel = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await exited
    clearTimeout(cancel)
  }
  children.clear()
}

/** Each process refreshes by itself. */
async function refreshEach(): Promise<boolean> {
  const provider = await startIdentityProvider()
  const tokens = await (await fetch(`${provider.address}/sign-in`)).json()
  writeFileSync(join(folder, 'tokens.json'), JSON.stringify({ ...(tokens as object), expiresAt: 0 }))
  let isRevoked = false
  start('own', provider.address, (text) => {
    isRevoked ||= text === 'revoked'
  })
  const wasRevoked = await until(() => isRevoked)
  await endAll()
  provider.close()
  console.log(`each by itself: ${wasRevoked ? 'a refresh token was used twice, and the user was logged out' : 'lucky'}`)
  return wasRevoked
}

/** The processes share one refresh. One of them is killed in the middle of its refresh. */
async function refreshOnce(): Promise<boolean> {
  let [refreshes, calls] = [0, 0]
  const provider = await startIdentityProvider((client) => {
    refreshes += 1
    if (refreshes === 3) children.get(client)?.kill('SIGKILL')
  })
  start('shared', provider.address, () => {
    calls += 1
  })
  const wasCalled = await until(() => refreshes >= 6 && calls >= 100)
  await endAll()
  provider.close()
  const { reused, sessions } = provider.seen
  console.log('with SingleFlight: one process was killed in the middle of a refresh, and the others went on')
  console.log(`refresh tokens used twice: ${reused}; ${sessions > 1 ? 'the next process began a new session' : ''}`)
  return wasCalled && reused === 0 && sessions > 1
}

try {
  const outcomes = [await refreshEach(), await refreshOnce()]
  process.exitCode = outcomes.every(Boolean) ? 0 : 1
} finally {
  for (const child of children.values()) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
