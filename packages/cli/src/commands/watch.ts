import { isLocked, LeaseError, type LeaseRecord, watchLease } from '@leasehold/core'
import { shownText } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { pause } from '@leasehold/core/store-kit'
import type { Action } from '../command-declaration.js'
import type { watch } from '../declarations.js'
import { durationText, instantText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { leaseJSON } from '../lease-table.js'
import { openStore } from '../store-selection.js'
import { type Terminal, writeJSON } from '../terminal.js'

const DEFAULT_INTERVAL = 1_000

/** Prints a line for each change. Failures of the store that may pass are reported once, and do not end it. */
export const watchOne: Action<typeof watch> = async ({ operands, options }, terminal) => {
  const [name = ''] = operands
  const { timeout, interval = DEFAULT_INTERVAL, lines = Number.POSITIVE_INFINITY, output } = options
  const { clock } = terminal
  await using opened = await openStore(options, name, terminal)
  const { store } = opened
  let [count, last, isFailing] = [0, '', false]
  for (;;) {
    try {
      for await (const record of watchLease(store, name, { timeout, interval, clock })) {
        isFailing = false
        const { remaining: _, renewals: __, waiters: ___, ...shown } = leaseJSON(name, record)
        // After a failure, the first record may be the last one again.
        if (JSON.stringify(shown) === last) continue
        last = JSON.stringify(shown)
        if (output === 'json') writeJSON(terminal, { at: clock.wall?.(), ...leaseJSON(name, record) })
        else terminal.output.write(`${lineOf(name, record, terminal)}\n`)
        count += 1
        if (count >= lines) return exitCodes.ok
      }
    } catch (error) {
      if (!(error instanceof LeaseError) || !['unavailable', 'timeout'].includes(error.code)) throw error
      if (!isFailing) terminal.errors.write(`leasehold: ${shownText(error.message)}; watching again\n`)
      isFailing = true
      await pause(clock, interval, new AbortableCall())
    }
  }
}

/** On a terminal a sentence; elsewhere the time, the name, the state, the holder and the token between tabs. */
function lineOf(name: string, record: LeaseRecord | undefined, { output, clock }: Terminal): string {
  const wall = clock.wall?.()
  const time = wall === undefined ? '-' : instantText(wall)
  const { state = 'none', fencingToken = '-', remaining } = record ?? {}
  const holder = isLocked(record) ? record.owner || 'unknown' : '-'
  if (output.isTTY !== true) return [time, name, state, holder, String(fencingToken)].map(shownText).join('\t')
  const by = holder === '-' ? '' : ` by ${holder}`
  const left = state === 'breaking' && remaining !== undefined ? `, free in ${durationText(remaining)}` : ''
  return shownText(`${time}  ${name} is ${state}${by}, token ${fencingToken}${left}`)
}
