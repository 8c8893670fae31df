import { StateMark } from '../leases/states.js'
import { leaseHref } from '../route/route.js'
import { DialogButton } from '../shell/dialog-button.js'
import { usePageOn } from '../shell/page-context.js'
import { BreakForm } from './break-form.js'
import { LeaseFields } from './lease-fields.js'
import { LeaseHistory } from './lease-history.js'
import { MetadataTable } from './metadata-table.js'
import { type LeaseReading, useLeaseDetail } from './use-lease-detail.js'

/** All that is known about one lease, and the way to break it. */
export function LeasePage({ name }: { readonly name: string }) {
  const reading = useLeaseDetail(name)
  const isLive = usePageOn('status').state.status.kind === 'live'
  const { lease, error } = reading
  return (
    <section class="view lease" aria-labelledby="lease-title">
      <p>
        <a href="#/">All leases</a>
      </p>
      <div class="view-head">
        <h2 id="lease-title" class="mono">
          {name}
        </h2>
        {lease !== undefined && <StateMark state={lease.entry.row.state} isStale={!isLive} />}
        {lease !== undefined && <BreakButton {...reading} />}
      </div>
      {error !== undefined && (
        <p role="alert" class="refused">
          {error.status === 404 ? 'There is no lease with this name in the store.' : error.message}
        </p>
      )}
      {lease === undefined && error === undefined && <p class="nothing">Reading the lease …</p>}
      {lease !== undefined && (
        <div class="lease-grid">
          <LeaseFields {...lease} />
          <MetadataTable title="Metadata" metadata={lease.detail.metadata} none="The holder has left no metadata." />
          {lease.detail.previous !== undefined && (
            <MetadataTable
              title="Left by the holder before"
              metadata={lease.detail.previous}
              none="The holder before left nothing."
            />
          )}
          {lease.detail.related.length > 0 && <Related names={lease.detail.related} />}
        </div>
      )}
      <LeaseHistory name={name} />
    </section>
  )
}

function BreakButton({ lease, read }: LeaseReading) {
  const { hello } = usePageOn('status').state
  const row = lease?.entry.row
  const isHeld = row?.state === 'leased' || row?.state === 'breaking'
  if (row === undefined || hello?.access !== 'write' || !hello.canBreak) return null
  return (
    <DialogButton text="Break …" kind="danger" isOffered={isHeld} title={`Break ${row.name}`}>
      {(close) => <BreakForm row={row} read={read} close={close} />}
    </DialogButton>
  )
}

function Related({ names }: { readonly names: readonly string[] }) {
  return (
    <section class="card">
      <h3>Belongs to it</h3>
      <ul class="related mono">
        {names.map((name) => (
          <li key={name}>
            <a href={leaseHref(name)}>{name}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
