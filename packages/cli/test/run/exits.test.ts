import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { breakLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'
import { eventually } from '@leasehold/testing'
import { describe, it } from 'vitest'
import { leaseFolder, leasehold, program, start, written } from '../support/leasehold-program.js'

describe.concurrent('leasehold run returns', () => {
  it('the exit code of the command', async (test) => {
    const ended = await leasehold(['run', 'x', '--', 'sh', '-c', 'exit 3'], { folder: leaseFolder(test) })
    test.expect(ended).toEqual({ code: 3, signal: null, output: '', errors: '' })
  })

  it.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('by %s, if the command was ended by it', async (signal, test) => {
    const command = ['sh', '-c', `kill -${signal.slice(3)} $$`]
    const ended = await leasehold(['run', 'x', '--', ...command], { folder: leaseFolder(test) })
    test.expect(ended).toMatchObject({ code: null, signal })
  })

  it('137, if the command was ended by SIGKILL', async (test) => {
    const ended = await leasehold(['run', 'x', '--', 'sh', '-c', 'kill -KILL $$'], { folder: leaseFolder(test) })
    test.expect(ended).toMatchObject({ code: 137, signal: null })
  })

  it('127 for a command that is not found, and 126 for one that is no program', async (test) => {
    const folder = leaseFolder(test)
    writeFileSync(`${folder}/text`, 'no program')
    const missing = await leasehold(['run', 'x', '--', 'no-such-program'], { folder })
    test.expect(missing).toMatchObject({ code: 127 })
    test.expect(missing.errors).toContain("the command 'no-such-program' cannot be started")
    test.expect(await leasehold(['run', 'x', '--', `${folder}/text`], { folder })).toMatchObject({ code: 126 })
  })

  it('75 with --try while another owner holds the lease, and after --wait', async (test) => {
    const folder = leaseFolder(test)
    const holder = start(['run', 'x', '--owner', 'first', '--', 'sh', '-c', 'echo held; sleep 60'], { folder })
    test.onTestFinished(() => void holder.child.kill())
    await written(holder, /held/)
    const tried = await leasehold(['run', 'x', '--try', '--', 'echo', 'started'], { folder })
    test.expect(tried).toMatchObject({ code: 75, output: '' })
    test.expect(tried.errors).toContain("the lease 'x' was not acquired: another owner holds it")
    const waited = await leasehold(['run', 'x', '--wait', '500ms', '--', 'echo', 'started'], { folder })
    test.expect(waited).toMatchObject({ code: 75, output: '' })
  })

  it('75 with --once and --try while another owner does the work of the key, whose lease the error names', async (test) => {
    const folder = leaseFolder(test)
    const run = ['run', 'x', '--once', 'may', '--try', '--', 'sh', '-c']
    const holder = start([...run, 'echo held; sleep 60'], { folder })
    test.onTestFinished(() => void holder.child.kill())
    await written(holder, /held/)
    const tried = await leasehold([...run, 'echo started'], { folder })
    test.expect(tried).toMatchObject({ code: 75, output: '' })
    test.expect(tried.errors).toContain("the lease 'x/may' was not acquired: another owner holds it")
  })

  it('64 for a command line that is wrong', async (test) => {
    const folder = leaseFolder(test)
    for (const args of [
      ['x'],
      ['x', '--try', '--wait', '1s', '--', 'true'],
      ['x', '--once', 'a', '--permits', '2', '--', 'true'],
      ['x', '--time-zone', 'UTC', '--', 'true'],
      ['x', '--every', '* * * * *', '--restart', '--', 'true'],
      ['x', '--every', '* * * * *', '--max-hold', '1m', '--', 'true'],
    ]) {
      test.expect(await leasehold(['run', ...args], { folder }), args.join(' ')).toMatchObject({ code: 64, output: '' })
    }
  })

  it('78 for a --kill-after that leaves no time for a heartbeat', async (test) => {
    const ended = await leasehold(['run', 'x', '--ttl', '10s', '--kill-after', '9s', '--', 'echo', 'started'], {
      folder: leaseFolder(test),
    })
    test.expect(ended).toMatchObject({ code: 78, output: '' })
    test.expect(ended.errors).toContain('give a longer --ttl, or a shorter --kill-after')
  })

  it('79 after the longest hold, and says that this was the reason', async (test) => {
    const times = ['--ttl', '4s', '--max-hold', '3s', '--kill-after', '500ms']
    const ended = await leasehold(['run', 'x', ...times, '--', 'sleep', '60'], { folder: leaseFolder(test) })
    test.expect(ended.code).toBe(79)
    test.expect(ended.errors).toContain("the lease 'x' was lost (max-hold): the command was ended")
  })

  it('69 where the store cannot be reached', async (test) => {
    const command = ['--', 'echo', 'started']
    const ended = await leasehold(['run', 'x', '--try', '--timeout', '1s', '-s', 'redis://127.0.0.1:1', ...command], {
      folder: leaseFolder(test),
    })
    test.expect(ended).toMatchObject({ code: 69, output: '' })
  })
})

describe.concurrent('the command', () => {
  it('has its lease in the environment', async (test) => {
    const folder = leaseFolder(test)
    const script = 'echo "$LEASEHOLD_NAME $LEASEHOLD_OWNER $LEASEHOLD_FENCING_TOKEN $LEASEHOLD_VALID_UNTIL"'
    const run = () => leasehold(['run', 'x', '--owner', 'me', '--', 'sh', '-c', script], { folder })
    const [name, owner, first = '', until = ''] = (await run()).output.trim().split(' ')
    test.expect([name, owner]).toEqual(['x', 'me'])
    test.expect(new Date(until).toISOString()).toBe(until)
    const [, , second = ''] = (await run()).output.split(' ')
    test.expect(BigInt(second)).toBeGreaterThan(BigInt(first))
  })

  it('under a command has its own lease, and is ended with the outer one', async (test) => {
    const folder = leaseFolder(test)
    const script = 'trap "" TERM; echo "inner $LEASEHOLD_RUN_ID $$"; while :; do sleep 0.1; done'
    const command = [process.execPath, program, 'run', 'inner', '--', 'setsid', '--wait', 'sh', '-c', script]
    const outer = start(['run', 'outer', '--ttl', '4s', '--kill-after', '500ms', '--', ...command], { folder })
    const [, ids = '', pid = ''] = /inner (\S+) (\d+)/.exec(await written(outer, /inner \S+ \d+/)) ?? []
    test.expect(ids.split(':')).toHaveLength(2)
    outer.child.kill('SIGKILL')
    await eventually('the inner command is gone', async () => !existsSync(`/proc/${pid}`))
  })

  it('gets one gigabyte on its standard input, unchanged', async (test) => {
    const folder = leaseFolder(test)
    const bytes = `yes "$(seq 100 | tr '\n' ' ')" | head -c 1073741824`
    const compare = `bash -c 'cmp - <(${bytes.replaceAll("'", "'\\''")}) && echo same'`
    const child = spawn('bash', ['-c', `${bytes} | ${process.execPath} ${program} run x -- ${compare}`], {
      env: { PATH: process.env.PATH, XDG_STATE_HOME: folder },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    test.expect(await text(child.stdout)).toBe('same\n')
  })

  it('writes much to a slow reader: its output and its errors stay blocking', async (test) => {
    const folder = leaseFolder(test)
    const script = 'head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2'
    const started = start(['run', 'x', '--', 'sh', '-c', script], { folder })
    started.child.stdout?.pause()
    await new Promise((resolve) => setImmediate(resolve))
    started.child.stdout?.resume()
    const { code, output, errors } = await started.ended
    test.expect([code, output.length, errors.length]).toEqual([0, 3_000_000, 3_000_000])
  })

  it('may close its output and go on', async (test) => {
    const folder = leaseFolder(test)
    const script = 'exec >&- 2>&- <&-; sleep 0.5; exit 4'
    test.expect(await leasehold(['run', 'x', '--', 'sh', '-c', script], { folder })).toMatchObject({ code: 4 })
  })
})

describe.concurrent('a signal', () => {
  it.for(['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGUSR1', 'SIGUSR2', 'SIGQUIT'] as const)(
    '%s is forwarded',
    async (signal, test) => {
      const folder = leaseFolder(test)
      const script = `trap 'echo got; exit 9' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`
      const started = start(['run', 'x', '--', 'sh', '-c', script], { folder })
      await written(started, /ready/)
      started.child.kill(signal)
      test.expect(await started.ended).toMatchObject({ code: 9, output: 'ready\ngot\n' })
    },
  )

  it('SIGINT twice: the command gets both, and leasehold ends with the command', async (test) => {
    const folder = leaseFolder(test)
    const script = `n=0; trap 'n=$((n+1)); echo "got $n"; [ $n = 2 ] && exit 6' INT; echo ready; while :; do sleep 0.05; done`
    const started = start(['run', 'x', '--', 'sh', '-c', script], { folder })
    await written(started, /ready/)
    started.child.kill('SIGINT')
    await written(started, /got 1/)
    started.child.kill('SIGINT')
    test.expect(await started.ended).toMatchObject({ code: 6, output: 'ready\ngot 1\ngot 2\n' })
    const { code } = await leasehold(['run', 'x', '--try', '--', 'true'], { folder })
    test.expect(code).toBe(0)
  })

  it('during the wait ends leasehold by the signal, and gives up the place in the queue', async (test) => {
    const folder = leaseFolder(test)
    const holder = start(['run', 'x', '--', 'sh', '-c', 'echo held; read -r line'], {
      folder,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    await written(holder, /held/)
    const waiter = start(['run', 'x', '--', 'echo', 'started'], { folder })
    const store = new LocalLeaseStore({ folder: `${folder}/leasehold/leases` })
    test.onTestFinished(() => store.close())
    const waiters = async () =>
      (
        await store.read('x', {
          timeout: 1_000,
          aborted: false,
          signal: new AbortController().signal,
          onAbort: () => () => {},
        })
      )?.waiters
    await eventually('it waits', async () => (await waiters()) === 1)
    waiter.child.kill('SIGINT')
    test.expect(await waiter.ended).toMatchObject({ code: null, signal: 'SIGINT', output: '' })
    test.expect(await waiters()).toBe(0)
    holder.child.stdin?.end('\n')
    await holder.ended
  })
})

describe.concurrent('leasehold run', () => {
  it('keeps the name locked for the child-grace of its configuration', async (test) => {
    const folder = leaseFolder(test)
    const config = `${folder}/application.conf`
    writeFileSync(
      config,
      `leasehold.lease { lease-class = "@leasehold/local", folder = "${folder}/leases", child-grace = 60s }`,
    )
    const run = () => leasehold(['run', 'x', '--try', '-c', config, '--', 'true'], { folder })
    test.expect(await run()).toMatchObject({ code: 0 })
    test.expect(await run()).toMatchObject({ code: 75 })
  })

  it('--restart: starts the command again after a loss', async (test) => {
    const folder = leaseFolder(test)
    const script = `echo run >> ${folder}/runs; [ "$(wc -l < ${folder}/runs)" -ge 2 ] && exit 7; sleep 60`
    const started = start(['run', 'x', '--restart', '--ttl', '2s', '--', 'sh', '-c', script], { folder })
    await eventually('it runs', async () => existsSync(`${folder}/runs`))
    const store = new LocalLeaseStore({ folder: `${folder}/leasehold/leases` })
    await breakLease(store, 'x', {})
    await store.close()
    const ended = await started.ended
    test.expect(ended.code).toBe(7)
    test.expect(ended.errors).toContain("the lease 'x' was lost (broken): acquiring it again")
    test.expect(readFileSync(`${folder}/runs`, 'utf8')).toBe('run\nrun\n')
  })

  it('--permits: as many run at a time, each in a slot of its own', async (test) => {
    const folder = leaseFolder(test)
    const run = (script: string, ...options: string[]) =>
      start(['run', 'x', '--permits', '2', ...options, '--', 'sh', '-c', script], { folder })
    const holders = [run('echo "slot $LEASEHOLD_PERMIT"; sleep 60'), run('echo "slot $LEASEHOLD_PERMIT"; sleep 60')]
    test.onTestFinished(() => {
      for (const { child } of holders) child.kill()
    })
    const slots = await Promise.all(holders.map((holder) => written(holder, /slot \d/)))
    test.expect(slots.sort()).toEqual(['slot 0', 'slot 1'])
    test.expect(await run('echo third', '--try').ended).toMatchObject({ code: 75, output: '' })
  })

  it('--once: not again after a success, but after a failure', async (test) => {
    const folder = leaseFolder(test)
    const run = (script: string) => leasehold(['run', 'x', '--once', 'may', '--', 'sh', '-c', script], { folder })
    test.expect(await run('exit 3')).toMatchObject({ code: 3 })
    test.expect(await run('echo "did $LEASEHOLD_KEY"')).toMatchObject({ code: 0, output: 'did may\n' })
    const again = await run('echo again')
    test.expect(again).toMatchObject({ code: 0, output: '' })
    test.expect(again.errors).toContain("'may' of 'x' was done before: the command was not run")
  })

  it('--every: at each tick, on one of two processes, until a signal', async (test) => {
    const folder = leaseFolder(test)
    const script = 'echo "tick $LEASEHOLD_TICK"'
    const run = () => start(['run', 'x', '--every', '* * * * * *', '--', 'sh', '-c', script], { folder })
    const both = [run(), run()]
    const ticks = () => both.flatMap(({ output }) => output().trim().split('\n').filter(Boolean))
    await eventually('three ticks', async () => ticks().length >= 3)
    for (const { child } of both) child.kill('SIGTERM')
    for (const { ended } of both) test.expect(await ended).toMatchObject({ signal: 'SIGTERM' })
    test.expect(new Set(ticks()).size).toBe(ticks().length)
  })

  it('--every: also between two ticks, and during a pause, if run-now asks for it', async (test) => {
    const folder = leaseFolder(test)
    const yearly = ['run', 'x', '--ttl', '5s', '--every', '0 3 29 2 *']
    const running = start([...yearly, '--', 'sh', '-c', 'echo "asked at $LEASEHOLD_TICK"'], { folder })
    test.onTestFinished(() => void running.child.kill())
    test
      .expect(await leasehold(['schedule', 'pause', 'x', '--reason', 'by hand'], { folder }))
      .toMatchObject({ code: 0 })
    test.expect(await leasehold(['schedule', 'run-now', 'x'], { folder })).toMatchObject({ code: 0, errors: '' })
    await written(running, /^asked at 20.+Z\n$/)
    running.child.kill('SIGTERM')
    test.expect(await running.ended).toMatchObject({ signal: 'SIGTERM', errors: '' })
  })
})
