import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { readRecording } from '@leasehold/recorder/internal'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { explain } from '../../src/explain/explanation.js'

const program = fileURLToPath(new URL('programs/worker.ts', import.meta.url))

class Fleet {
  readonly #folder = temporaryFolder()
  readonly #recordings = temporaryFolder()

  /** Resolves when it has printed a line with this word. */
  async start(owner: string, fault: string, word = 'acquired'): Promise<ChildProcess> {
    const started = this.startOnly(owner, fault)
    await started.printed(word)
    return started.child
  }

  startOnly(owner: string, fault: string): { child: ChildProcess; printed: (word: string) => Promise<void> } {
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source']
    const child = spawn(process.execPath, [...options, program, this.#folder, this.#recordings, owner, fault], {
      timeout: 60_000,
      killSignal: 'SIGKILL',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (text) => {
      output += String(text)
    })
    return { child, printed: (word) => eventually(`${owner} prints ${word}`, async () => output.includes(word)) }
  }

  files(reason: string): readonly string[] {
    return readdirSync(this.#recordings).filter((file) => file.endsWith(`-${reason}.rec`))
  }

  explain() {
    const files = readdirSync(this.#recordings).filter((file) => file.endsWith('.rec'))
    return explain(files.map((file) => readRecording(readFileSync(join(this.#recordings, file), 'utf8'), file)))
  }
}

describe('the recordings of processes', () => {
  it('say that a loop without a pause blocked the holder', async () => {
    const fleet = new Fleet()
    await fleet.start('busy', 'busy')
    const other = fleet.startOnly('other', 'none')
    await other.printed('acquired')
    await eventually('a recording', async () => fleet.files('lost').length > 0)
    const { verdicts, replay } = fleet.explain()
    expect(verdicts.map(({ owner, finding }) => ({ owner, cause: finding.cause }))).toEqual([
      { owner: 'busy', cause: 'busy-loop' },
    ])
    expect(verdicts[0]?.sentences[0]).toMatch(
      /its event loop was blocked for .* in `parse` \(\S+worker\.ts:\d+:\d+\), in which/,
    )
    expect(verdicts[0]?.finding.stack?.map((call) => call.function)).toContain('parse')
    expect(replay.difference).toBeUndefined()
  }, 60_000)

  it('say that the holder waited in a synchronous call, and blame no function', async () => {
    const fleet = new Fleet()
    await fleet.start('waiting', 'waiting')
    await eventually('a recording', async () => fleet.files('lost').length > 0)
    const { verdicts } = fleet.explain()
    expect(verdicts.map(({ owner, finding }) => ({ owner, cause: finding.cause }))).toEqual([
      { owner: 'waiting', cause: 'synchronous-wait' },
    ])
    expect(verdicts[0]?.finding.stack).toBeUndefined()
    expect(verdicts[0]?.sentences[0]).toContain('a synchronous call such as execSync')
  }, 60_000)

  it('say that the holder was stopped, and that another had the lease then', async () => {
    const fleet = new Fleet()
    const holder = await fleet.start('stopped', 'none')
    const other = fleet.startOnly('other', 'none')
    await sleep(1_000)
    holder.kill('SIGSTOP')
    await other.printed('acquired')
    holder.kill('SIGCONT')
    await eventually('a recording', async () => fleet.files('lost').length > 0)
    other.child.kill('SIGUSR2')
    await eventually('a recording of the other', async () => fleet.files('signal').length > 0)
    const { verdicts, replay } = fleet.explain()
    expect(verdicts.map(({ owner, finding }) => ({ owner, cause: finding.cause }))).toEqual([
      { owner: 'stopped', cause: 'stopped' },
    ])
    expect(verdicts[0]?.finding.stack).toBeUndefined()
    expect(verdicts[0]?.sentences[1]).toContain("'other'")
    expect(replay.difference).toBeUndefined()
  }, 60_000)

  it('say that the holder exited', async () => {
    const fleet = new Fleet()
    const holder = await fleet.start('exiting', 'crash')
    const other = fleet.startOnly('other', 'none')
    await other.printed('acquired')
    expect(holder.exitCode).toBe(3)
    other.child.kill('SIGUSR2')
    await eventually('a recording of the other', async () => fleet.files('signal').length > 0)
    expect(fleet.files('exit').length).toBe(1)
    const { verdicts } = fleet.explain()
    expect(verdicts.map(({ owner, finding }) => ({ owner, cause: finding.cause }))).toEqual([
      { owner: 'exiting', cause: 'crash' },
    ])
    expect(verdicts[0]?.sentences[0]).toContain('exited with the code 3')
  }, 60_000)

  it('say what the holder did when its self-fence ended it', async () => {
    const fleet = new Fleet()
    const holder = await fleet.start('fenced', 'fenced')
    await eventually('its end', async () => holder.signalCode === 'SIGKILL')
    expect(fleet.files('self-fence').length).toBe(1)
    const { verdicts } = fleet.explain()
    expect(verdicts.map(({ owner, finding }) => ({ owner, cause: finding.cause }))).toEqual([
      { owner: 'fenced', cause: 'busy-loop' },
    ])
    expect(verdicts[0]?.sentences[0]).toMatch(/blocked for .* in `parse` \(.* until its self-fence ended it\.$/)
  }, 60_000)
})
