import { hrefOf, type Route, type View, views } from '../route/route.js'
import { usePageOn } from './page-context.js'

export const viewTitles: Readonly<Record<View, string>> = {
  leases: 'Leases',
  timeline: 'Timeline',
  elections: 'Elections',
  schedules: 'Schedules',
  semaphores: 'Semaphores',
  groups: 'Partitions',
}

/** The way from one view to another, with how much there is in each. */
export function ViewTabs({ route }: { readonly route: Route }) {
  const { state, formats } = usePageOn('leases', 'recipes')
  const { elections, schedules, semaphores, groups } = state.recipes
  const counts: Readonly<Partial<Record<View, number>>> = {
    leases: state.listing.size,
    elections: elections.length,
    schedules: schedules.length,
    semaphores: semaphores.length,
    groups: groups.length,
  }
  const current = route.view === 'lease' ? 'leases' : route.view
  return (
    <nav class="tabs" aria-label="Views">
      <ul>
        {views.map((view) => (
          <li key={view}>
            <a href={hrefOf(view)} aria-current={view === current ? 'page' : undefined}>
              {viewTitles[view]}
              {counts[view] !== undefined && <span class="count">{formats.number(counts[view])}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
