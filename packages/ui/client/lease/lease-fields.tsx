import { ValidityBar } from '../leases/validity-bar.js'
import { Field } from '../shell/field.js'
import { Instant } from '../shell/instant.js'
import { usePageOn, useTick } from '../shell/page-context.js'
import type { Lease } from './use-lease-detail.js'

/** The fields of the record. */
export function LeaseFields({ entry, detail }: Lease) {
  useTick(1_000)
  const { state, formats } = usePageOn('status')
  const { row } = entry
  return (
    <section class="card">
      <h3>Record</h3>
      <dl class="fields">
        <Field name="Holder">{row.owner === '' ? 'nobody' : <span class="mono breaks">{row.owner}</span>}</Field>
        {row.owner !== '' && (
          <Field name={row.isSeen ? 'Held at least since' : 'Held since'}>
            {row.since === undefined ? 'not known' : <Instant at={row.since} />}
          </Field>
        )}
        <Field name="Fencing token">
          <span class="mono">{row.token}</span>
        </Field>
        <Field name="Validity left">
          <ValidityBar entry={entry} isStale={state.status.kind !== 'live'} />
        </Field>
        <Field name="Validity period">
          {row.ttl === undefined ? 'not known' : row.ttl === null ? 'no end' : formats.exactDuration(row.ttl)}
        </Field>
        {detail.duration !== undefined && (
          <Field name="Duration">{detail.duration === 'infinite' ? 'infinite' : 'fixed, renewed by heartbeats'}</Field>
        )}
        {row.renewals !== undefined && <Field name="Renewals">{formats.number(row.renewals)}</Field>}
        <Field name="Waiting">{row.waiters === undefined ? 'not known' : formats.number(row.waiters)}</Field>
        {row.recipe !== undefined && (
          <Field name="Used by">
            {row.recipe.kind} <span class="mono breaks">{row.recipe.name}</span>
          </Field>
        )}
        {detail.breakReason !== undefined && (
          <Field name="Broken because">
            <span class="breaks">{detail.breakReason}</span>
          </Field>
        )}
      </dl>
    </section>
  )
}
