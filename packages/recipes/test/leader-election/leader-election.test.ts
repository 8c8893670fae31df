import { LeaseConfigurationError, LeaseLostError, LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { Electorate, TTL } from './electorate.js'

describe('the options', () => {
  it.each([
    ['an unknown one', { onElect: () => {} }, "did you mean 'onElected'?"],
    ['onElected', { onElected: 'work' }, 'onElected must be a function'],
    ['resignPause', { resignPause: -1 }, 'resignPause must be 0 or more milliseconds'],
    ['stopTimeout', { stopTimeout: -1 }, 'stopTimeout must be 0 or more milliseconds'],
    ['metadata', { metadata: { port: 80 } }, 'metadata.port must be a text'],
    ['the durations of the lease', { heartbeatInterval: 6_000 }, 'heartbeatTimeout'],
  ])('are checked when the election is made: %s', (_, options, message) => {
    const make = (): unknown => new Electorate().create(options as object)
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow(message)
  })

  it('metadata are refused where the records of the store have no room for them', () => {
    const electorate = new Electorate()
    const store = Object.create(electorate.store, { limits: { value: { ...electorate.store.limits, metadata: 0 } } })
    expect(() => electorate.create({ metadata: { a: 'b' } }, { store })).toThrow('have no room for it')
    electorate.create({}, { store })
  })

  it('another value than a store is refused', () => {
    expect(() => new LeaderElection({} as never, { name: 'job' })).toThrow(LeaseConfigurationError)
  })
})

describe('start', () => {
  it('is needed to campaign: until then an election only observes', async () => {
    const electorate = new Electorate()
    const { election } = electorate.create()
    await electorate.pass(TTL)
    expect([election.isLeader, election.term, election.healthy]).toEqual([false, undefined, true])
    election.start()
    await electorate.pass(0)
    expect([election.isLeader, election.term, election.healthy]).toEqual([true, 1n, true])
  })

  it('has no effect the second time, and throws after stop', async () => {
    const electorate = new Electorate()
    const { election, events } = electorate.start()
    election.start()
    await electorate.pass(TTL)
    expect(events).toEqual(['elected 1'])
    await electorate.during(election.stop())
    expect(() => election.start()).toThrow(LeaseUnavailableError)
  })
})

describe('a term', () => {
  it('gives the work its number and its signal; the election leads in that term', async () => {
    const electorate = new Electorate()
    const seen: unknown[] = []
    const { election } = electorate.create({
      onElected: ({ term, signal }) => {
        seen.push(term, signal.aborted, election.isLeader, election.term)
      },
    })
    election.start()
    await electorate.pass(0)
    expect(seen.slice(0, 4)).toEqual([1n, false, true, 1n])
  })

  it('ends, reported, if the work throws; also if it throws before it returns a promise', async () => {
    for (const onElected of [
      () => {
        throw new Error('of the work')
      },
      async () => Promise.reject(new Error('of the work')),
    ]) {
      const electorate = new Electorate()
      const { events, errors } = await electorate.lead({ onElected, resignPause: TTL })
      await electorate.pass(100)
      expect(events).toEqual(['elected 1', 'resigned 1'])
      expect(errors).toMatchObject([{ message: 'of the work' }])
    }
  })

  it('is not reported as failed if the work rejects with the reason of its signal, or with an AbortError', async () => {
    const rejections = [(signal: AbortSignal) => signal.reason, () => new DOMException('aborted', 'AbortError')]
    for (const rejection of rejections) {
      const electorate = new Electorate()
      const { election, errors } = await electorate.lead({
        onElected: ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(rejection(signal)))),
      })
      await electorate.during(election.stop())
      expect(errors).toEqual([])
    }
  })

  it('that is resigned by a listener before its work begins does no work', async () => {
    const electorate = new Electorate()
    const works: bigint[] = []
    const { election, events } = electorate.create({ onElected: ({ term }) => void works.push(term), resignPause: TTL })
    election.on('elected', () => void election.resign())
    election.start()
    await electorate.pass(100)
    expect(works).toEqual([])
    expect(events).toEqual(['elected 1', 'resigned 1'])
  })

  it('does not begin if its lease has expired unnoticed, while the process stood still', async () => {
    const electorate = new Electorate()
    let looks = 0
    const rank = () => {
      looks += 1
      // The first look is for its candidacy, the second one after its lease was granted.
      if (looks === 2) electorate.clock.block(2 * TTL)
      return 1
    }
    const { events } = electorate.start({ rank })
    await electorate.pass(TTL)
    expect(events).toEqual(['elected 2'])
  })

  it('that is over by maxHold is followed by the pause, so that another one leads', async () => {
    const electorate = new Electorate()
    const first = await electorate.lead({ maxHold: 2 * TTL, resignPause: TTL })
    const second = await electorate.lead()
    await electorate.pass(3 * TTL)
    expect(first.events).toEqual(['elected 1', 'lost 1: max-hold'])
    expect(electorate.leaders).toEqual([second])
  })

  it('may last for long: no warning asks for maxHold', async () => {
    const electorate = new Electorate()
    const warnings: string[] = []
    const logger = { debug() {}, info() {}, warn: (message: string) => void warnings.push(message), error() {} }
    const { election } = await electorate.lead({
      logger,
      heartbeatTimeout: 1_000,
      heartbeatInterval: 200,
      operationTimeout: 100,
    })
    await electorate.pass(150_000)
    expect(election.term).toBe(1n)
    expect(warnings).toEqual([])
  })
})

describe('resign and stop', () => {
  it('reject with what to do if the work does not end; the lease is held until it does', async () => {
    const electorate = new Electorate()
    let end = (): void => {}
    const work = new Promise<void>((resolve) => {
      end = resolve
    })
    const { election } = await electorate.lead({ onElected: () => work, stopTimeout: 1_000 })
    const failure = await electorate.during(election.resign().catch((error: unknown) => error))
    expect(failure).toBeInstanceOf(LeaseTimeoutError)
    expect((failure as Error).message).toContain('the work of term 1 has not ended within 1000 ms')
    await expect(electorate.during(election.stop())).rejects.toBeInstanceOf(LeaseTimeoutError)
    await electorate.pass(3 * TTL)
    expect(election.isLeader).toBe(true)
    end()
    await electorate.during(election.stop())
    expect(election.isLeader).toBe(false)
  })

  it('work that awaits resign() itself does not hang for ever', async () => {
    const electorate = new Electorate()
    const { election, errors, events } = electorate.create({
      onElected: () => election.resign(),
      stopTimeout: 1_000,
      resignPause: TTL,
    })
    election.start()
    await electorate.pass(2_000)
    expect(errors).toMatchObject([{ name: 'LeaseTimeoutError' }])
    expect(events).toEqual(['elected 1', 'resigned 1'])
  })

  it('abort the signal with a LeaseLostError that says that the term was resigned', async () => {
    const electorate = new Electorate()
    let reason: unknown
    const { election } = await electorate.lead({
      onElected: ({ signal }) =>
        new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            reason = signal.reason
            resolve()
          }),
        ),
    })
    await electorate.during(election.stop())
    expect(reason).toBeInstanceOf(LeaseLostError)
    expect(reason).toMatchObject({ reason: 'released', leaseName: 'job', owner: 'candidate-0' })
  })

  it('stop ends the pause after a resignation', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead({ resignPause: 1_000_000 })
    await electorate.during(election.resign())
    await electorate.during(election.stop())
    expect(electorate.clock.pending).toBe(0)
  })

  it('stop of an election that was never started resolves, and so does a second stop', async () => {
    const { election } = new Electorate().create()
    await election.stop()
    await election.stop()
  })

  it('the end of an await using block stops the election', async () => {
    const electorate = new Electorate()
    const { election } = await electorate.lead()
    await electorate.during(election[Symbol.asyncDispose]())
    expect(await election.leader()).toBeUndefined()
  })

  it('a store that is closed ends the campaign', async () => {
    const electorate = new Electorate()
    const { events } = await electorate.lead()
    const waiting = await electorate.lead()
    await electorate.store.close()
    await electorate.pass(TTL)
    expect(events).toEqual(['elected 1', 'lost 1: closed'])
    expect(waiting.errors).toHaveLength(1)
    expect(electorate.clock.pending).toBe(0)
  })
})

describe('listeners', () => {
  it('that throw or reject are reported, and the term goes on', async () => {
    const electorate = new Electorate()
    const { election, errors } = electorate.create()
    election.on('elected', () => {
      throw new Error('thrown')
    })
    election.on('elected', async () => Promise.reject(new Error('rejected')))
    election.start()
    await electorate.pass(TTL)
    expect(election.isLeader).toBe(true)
    expect(errors.map((error) => (error as Error).message).sort()).toEqual(['rejected', 'thrown'])
  })

  it('are removed by off', async () => {
    const electorate = new Electorate()
    const { election } = electorate.create()
    const terms: bigint[] = []
    const listener = (term: bigint): void => void terms.push(term)
    election.on('elected', listener).off('elected', listener).start()
    await electorate.pass(100)
    expect(terms).toEqual([])
  })

  it('without any for errors, the logger gets them; a logger that throws costs nothing', async () => {
    const electorate = new Electorate()
    const logged: unknown[] = []
    const error = (_message: string, details: unknown): void => void logged.push(details)
    const logger = { debug() {}, info() {}, warn() {}, error }
    const options = {
      name: 'job',
      clock: electorate.clock,
      heartbeatTimeout: TTL,
      heartbeatInterval: 1_000,
      operationTimeout: 500,
    }
    const election = new LeaderElection(electorate.store, {
      ...options,
      logger,
      onElected: () => {
        throw new Error('of the work')
      },
    })
    election.start()
    await electorate.pass(100)
    expect(logged).toMatchObject([{ message: 'of the work' }])
    await electorate.during(election.stop())
  })
})
