import {
  breakLease,
  healthOf,
  LeaseConfigurationError,
  LeaseHeldError,
  LeaseLostError,
  LeaseUnavailableError,
  type StoreHeld,
} from '@leasehold/core'
import { Controller, Get, Param } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { describe, expect, it } from 'vitest'
import { InjectLeases, LeaseHeld, LeaseSignal, type Leases, LeaseToken, WithLease } from '../src/index.js'
import { LeaseholdTestingModule } from '../src/testing.js'
import { Fleet } from './support/application.js'

/** A work that ends when the test says so. */
function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

const { open, opened } = gate()

class Accounts {
  readonly kind = 'accounts'

  @WithLease((id: string) => `account/${id}`)
  async book(id: string, @LeaseToken() token?: bigint, @LeaseSignal() signal?: AbortSignal) {
    await opened
    return [this.kind, id, token, signal?.aborted]
  }

  @WithLease('all', { wait: 5_000 })
  async wait(work: () => Promise<void>, @LeaseHeld() _held?: StoreHeld) {
    await work()
    return 'done'
  }
}

describe('@WithLease', () => {
  it('calls the method under the lease that its arguments name, with the token and the signal', async () => {
    const fleet = new Fleet()
    const [one, two] = [await fleet.start([Accounts]), await fleet.start([Accounts])]
    const booked = one.get(Accounts).book('7')
    await fleet.clock.settle()
    await expect(two.get(Accounts).book('7')).rejects.toThrow(LeaseHeldError)
    const other = two.get(Accounts).book('8')
    open()
    expect(await booked).toEqual(['accounts', '7', 1n, false])
    expect(await other).toEqual(['accounts', '8', 1n, false])
    expect(await two.get(Accounts).book('7')).toEqual(['accounts', '7', 2n, false])
  })

  it('waits for its turn, and no longer', async () => {
    const fleet = new Fleet()
    const [one, two] = [await fleet.start([Accounts]), await fleet.start([Accounts])]
    const { open, opened } = gate()
    const first = one.get(Accounts).wait(() => opened)
    await fleet.clock.settle()
    const late = expect(two.get(Accounts).wait(async () => {})).rejects.toThrow(LeaseHeldError)
    await fleet.clock.advance(6_000)
    await late
    const second = two.get(Accounts).wait(async () => {})
    await fleet.clock.settle()
    open()
    await fleet.clock.advance(5_000)
    expect([await first, await second]).toEqual(['done', 'done'])
  })

  it('keeps two calls on one instance apart, too', async () => {
    const accounts = (await new Fleet().start([Accounts], { owner: 'anna' })).get(Accounts)
    const { open, opened } = gate()
    const first = accounts.wait(() => opened)
    const order: string[] = []
    const second = accounts.wait(async () => void order.push('second'))
    await new Promise((resolve) => setImmediate(resolve))
    order.push('first')
    open()
    await first
    await second
    expect(order).toEqual(['first', 'second'])
  })

  it('passes the error of the method on, and its loss', async () => {
    const fleet = new Fleet()
    const { leases, ...application } = await fleet.start([Accounts])
    expect(application).toBeDefined()
    const accounts = (await fleet.start([Accounts])).get(Accounts)
    await expect(accounts.wait(() => Promise.reject(new TypeError('no money')))).rejects.toThrow(TypeError)
    const { opened } = gate()
    const lost = expect(accounts.wait(() => opened)).rejects.toThrow(LeaseLostError)
    await fleet.clock.settle()
    const lease = leases.lease('all')
    expect(await lease.acquire()).toBe(false)
    await breakLease(leases.store, 'all', { period: 0, clock: fleet.clock })
    await fleet.clock.advance(60_000)
    await lost
  })

  it('keeps the metadata of other decorators, such as routes, and serves controllers', async () => {
    @Controller('accounts')
    class AccountsController {
      @Get(':id')
      @WithLease((id: string) => `account/${id}`)
      async show(@Param('id') id: string, @LeaseToken() token?: bigint) {
        return { id, token: String(token) }
      }
    }
    const module = await Test.createTestingModule({
      imports: [LeaseholdTestingModule.forRoot()],
      controllers: [AccountsController],
    }).compile()
    const application = module.createNestApplication()
    application.useLogger(false)
    await application.listen(0, '127.0.0.1')
    const response = await fetch(`${await application.getUrl()}/accounts/7`)
    expect(await response.json()).toEqual({ id: '7', token: '1' })
    await application.close()
  })

  it('is an error for an object that Nest has not made, and for a name that is no text', async () => {
    await expect(new Accounts().book('7')).rejects.toThrow(/^Accounts\.book: @WithLease needs the leases/)
    class Odd {
      @WithLease((() => 7) as never)
      async run() {}
    }
    const application = await new Fleet().start([Odd])
    await expect(application.get(Odd).run()).rejects.toThrow('Odd.run: @WithLease: the name must be a text, not 7')
  })

  it('at the start, is an error that names the class and the method if its name or its options are wrong', async () => {
    class Nameless {
      @WithLease(undefined as never)
      async run() {}
    }
    class Long {
      @WithLease('x'.repeat(5_000))
      async run() {}
    }
    class Misspelled {
      @WithLease('x', { waits: 7 } as object)
      async run() {}
    }
    const fleet = new Fleet()
    for (const [provider, message] of [
      [Nameless, 'Nameless.run: @WithLease: give a name, or a function that returns one, not undefined'],
      [Long, 'Long.run: @WithLease: '],
      [Misspelled, "Misspelled.run: @WithLease: run has no option 'waits': did you mean 'wait'?"],
    ] as const) {
      const fault = await fleet.faultOf([provider])
      expect(fault).toBeInstanceOf(LeaseConfigurationError)
      expect(String(fault)).toContain(message)
    }
  })
})

describe('Leases', () => {
  it('is injected, makes leases with the options and the prefix of the module, and knows their health', async () => {
    class Worker {
      readonly leases: Leases
      constructor(@InjectLeases() leases: Leases) {
        this.leases = leases
      }
    }
    const fleet = new Fleet()
    const application = await fleet.start([Worker], { prefix: 'shop/', heartbeatTimeout: 9_000, owner: 'anna' })
    const { leases } = application.get(Worker)
    const lease = leases.lease('a')
    expect(lease.settings).toMatchObject({ name: 'shop/a', owner: 'anna', timeouts: { heartbeatTimeout: 9_000 } })
    expect(await lease.acquire()).toBe(true)
    expect(healthOf(leases)).toMatchObject({ healthy: true, details: { parts: [expect.anything()] } })
    expect(() => leases.lease('')).toThrow()
  })

  it('ends what is left when the application shuts down, and takes no more', async () => {
    const fleet = new Fleet()
    const application = await fleet.start([])
    const { leases } = application
    const lease = leases.lease('a')
    await lease.acquire()
    const { open, opened } = gate()
    const run = leases.run('b', () => opened)
    await fleet.clock.settle()
    const closing = application.close()
    await fleet.clock.settle()
    expect(lease.checkLease()).toBe(true)
    await expect(leases.run('c', async () => {})).rejects.toThrow(LeaseUnavailableError)
    open()
    await run
    await closing
    expect(lease.checkLease()).toBe(false)
    expect(await (await fleet.start([])).leases.lease('a').acquire()).toBe(true)
  })

  it('waits for a work for stopTimeout, and then ends its lease', async () => {
    const fleet = new Fleet()
    const application = await fleet.start([], { stopTimeout: 2_000 })
    const lost = expect(application.leases.run('a', () => new Promise(() => {}))).rejects.toThrow(LeaseLostError)
    await fleet.clock.settle()
    const closing = application.close()
    await fleet.clock.advance(2_000)
    await lost
    await closing
  })
})
