import { useState } from 'preact/hooks'
import type { LeaseDetail, LeaseRow } from '../../src/protocol.js'
import { stateTexts } from '../leases/states.js'
import { fieldTexts } from '../shell/field-texts.js'
import { usePage } from '../shell/page-context.js'
import { useAction } from '../shell/use-action.js'

/** Asks for a period and a reason, and breaks the lease of the holder that the reader saw: of no other. */
export function BreakForm(form: {
  readonly row: LeaseRow
  readonly read: () => Promise<LeaseDetail | undefined>
  readonly close: () => void
}) {
  const { api, formats } = usePage()
  // Stays as the reader saw it, although the list goes on.
  const [seen, setSeen] = useState(form.row)
  const [hasChanged, setChanged] = useState(false)
  const action = useAction()
  const canBreak = seen.state === 'leased' || seen.state === 'breaking'
  const submit = async (text: (name: string) => string) => {
    setChanged(false)
    const period = Number(text('period')) * 1_000
    const request = { name: seen.name, token: seen.token, period, reason: text('reason') }
    const isBroken = await action.run(async () => {
      await api.break(request).catch(async (cause: { status?: number }) => {
        if (cause.status !== 409) throw cause
        const now = await form.read()
        if (now === undefined) throw cause
        setSeen(now.row)
        setChanged(true)
        throw cause
      })
      await form.read()
    })
    if (isBroken) form.close()
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void submit(fieldTexts(event.currentTarget))
      }}
    >
      <p>
        <strong class="mono">{seen.owner || 'The holder'}</strong> loses <code>{seen.name}</code> (token {seen.token}).
        The name is free after the period
        {seen.ttl != null && <>, or when the validity of {formats.exactDuration(seen.ttl)} ends, if that is sooner</>}.
      </p>
      {hasChanged && (
        <p role="alert" class="refused">
          This lease has changed meanwhile. Nothing was broken. It is now: {stateTexts[seen.state]}
          {seen.owner !== '' && <>, holder {seen.owner}</>}, token {seen.token}.
        </p>
      )}
      {action.error !== undefined && !hasChanged && (
        <p role="alert" class="refused">
          {action.error.message}
        </p>
      )}
      <div class="field">
        <label for="break-period">Period in seconds</label>
        <input
          id="break-period"
          type="number"
          min="0"
          step="any"
          required
          aria-describedby="break-period-help"
          name="period"
          defaultValue="5"
        />
        <p id="break-period-help" class="hint">
          The time that the holder has to end its work. 0 takes the lease away at once.
        </p>
      </div>
      <div class="field">
        <label for="break-reason">Reason</label>
        <input
          id="break-reason"
          type="text"
          maxLength={500}
          required
          autocomplete="off"
          aria-describedby="break-reason-help"
          name="reason"
        />
        <p id="break-reason-help" class="hint">
          It stands in the record, for the holder and for those who ask later.
        </p>
      </div>
      <div class="actions">
        <button type="button" class="button" onClick={form.close}>
          Cancel
        </button>
        <button type="submit" class="danger" disabled={action.isBusy || !canBreak}>
          {hasChanged && canBreak ? 'Break this one' : 'Break'}
        </button>
      </div>
    </form>
  )
}
