import { useEffect, useRef } from 'preact/hooks'
import { LeasePage } from '../lease/lease-page.js'
import { LeasesView } from '../leases/leases-view.js'
import { ElectionsView } from '../recipes/elections-view.js'
import { GroupsView } from '../recipes/groups-view.js'
import { SchedulesView } from '../recipes/schedules-view.js'
import { SemaphoresView } from '../recipes/semaphores-view.js'
import type { Route } from '../route/route.js'
import { TimelineView } from '../timeline/timeline-view.js'
import { Notices } from './notices.js'
import { usePageOn } from './page-context.js'
import { TokenForm } from './token-form.js'
import { TopBar } from './top-bar.js'
import { useRoute } from './use-route.js'
import { ViewTabs, viewTitles } from './view-tabs.js'

/** The whole page. */
export function App() {
  const { state } = usePageOn('status')
  const route = useRoute()
  const main = useRef<HTMLElement>(null)
  const { status } = state
  useTitle(route, status.kind === 'stale')
  const isOpen = status.kind !== 'locked'
  const place = route.view === 'lease' ? `lease ${route.name}` : route.view
  useEffect(() => {
    // The link that led here is gone, and the focus with it.
    if (isOpen && document.activeElement === document.body) main.current?.focus({ preventScroll: true })
  }, [place, isOpen])
  if (status.kind === 'locked') return <TokenForm error={status.error} />
  return (
    <div class="page" data-status={status.kind}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <TopBar />
      <ViewTabs route={route} />
      <Notices />
      <main ref={main} tabIndex={-1} class="content">
        <Content route={route} />
      </main>
    </div>
  )
}

function Content({ route }: { readonly route: Route }) {
  switch (route.view) {
    case 'leases':
      return <LeasesView />
    case 'timeline':
      return <TimelineView />
    case 'elections':
      return <ElectionsView />
    case 'schedules':
      return <SchedulesView />
    case 'semaphores':
      return <SemaphoresView />
    case 'groups':
      return <GroupsView />
    case 'lease':
      return <LeasePage key={route.name} name={route.name} />
  }
}

function useTitle(route: Route, isStale: boolean): void {
  const { state } = usePageOn('status')
  const what = route.view === 'lease' ? route.name : viewTitles[route.view]
  const title = `${isStale ? 'Stale: ' : ''}${what} – ${state.hello?.title ?? 'Leases'}`
  useEffect(() => {
    document.title = title
  }, [title])
}
