import type { ComponentChildren } from 'preact'
import type { UiFinding } from '../../src/protocol.js'
import { leaseHref } from '../route/route.js'
import { usePageOn } from './page-context.js'

const findingTitles: Readonly<Record<UiFinding['kind'], string>> = {
  'two-holders': 'Two holders at a time',
  'token-shrank': 'A fencing token became smaller',
  'unfit-store': 'The store does not keep its word',
}

/** What the reader must know first: that the page is stale, and findings. Screen readers say what is new. */
export function Notices() {
  const { state, formats } = usePageOn('status', 'findings')
  const { status, findings } = state
  return (
    <section class="notices" aria-label="Notices">
      <div aria-live="polite">
        {status.kind === 'stale' && (
          <Notice kind="stale" title="This page is stale">
            {status.error.message} The leases below may have changed since <Time at={state.knownUntil} />.
          </Notice>
        )}
        {status.kind === 'connecting' && status.error !== undefined && (
          <Notice kind="stale" title="Not connected">
            {status.error.message} The page tries again.
          </Notice>
        )}
        {findings.map((finding) => (
          <Notice key={finding.id} kind="finding" title={findingTitles[finding.kind] ?? finding.kind}>
            {finding.message} Last seen at {formats.time(finding.at, state.serverNow)}.
            {finding.leaseName !== undefined && (
              <>
                {' '}
                <a href={leaseHref(finding.leaseName)}>Show {finding.leaseName}</a>
              </>
            )}
          </Notice>
        ))}
      </div>
    </section>
  )
}

function Notice({
  kind,
  title,
  children,
}: {
  readonly kind: string
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="notice" data-kind={kind}>
      <strong>{title}</strong>
      <p>{children}</p>
    </div>
  )
}

/** The instant at which the notice first appeared: it does not change while it is read out. */
function Time({ at }: { readonly at: number }) {
  const { state, formats } = usePageOn()
  return <time dateTime={new Date(at).toISOString()}>{formats.time(at, state.serverNow)}</time>
}
