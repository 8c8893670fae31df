import { options, render } from 'preact'
import { Api } from './api/api.js'
import type { PageFetch } from './api/page-fetch.js'
import { TokenKeeper, type TokenStorage } from './api/token.js'
import { Formats } from './format/formats.js'
import type { ListView } from './list/listing.js'
import { queryOf, viewOf } from './list/view-address.js'
import { hrefOf, queryIn, routeOf } from './route/route.js'
import { App } from './shell/app.js'
import { type Page, PageContext } from './shell/page-context.js'
import { PageState } from './state/page-state.js'
import { Connection } from './stream/connection.js'
import { BrowserClock } from './time/browser-clock.js'
import { HistoryCache } from './timeline/history-cache.js'

// However much changes, the page is drawn once in a frame; not at all while nobody sees it.
options.debounceRendering = (draw) => requestAnimationFrame(draw)

function sessionStore(): TokenStorage {
  try {
    return sessionStorage
  } catch {
    // A browser that allows no storage throws already here.
    return { getItem: () => null, setItem: () => {}, removeItem: () => {} }
  }
}

/** Puts what the reader looks at into the address, so that it can be kept and sent to others. */
function showView(view: ListView): void {
  const route = routeOf(location.hash)
  if (route.view !== 'leases' && route.view !== 'timeline') return
  history.replaceState(null, '', hrefOf(route.view) + queryOf(view))
}

function start(): void {
  const keeper = new TokenKeeper(sessionStore())
  const takeToken = () =>
    keeper.takeFrom({ hash: location.hash, replaceHash: (hash) => history.replaceState(null, '', hash) })
  takeToken()

  const clock = new BrowserClock()
  const state = new PageState({ clock, reload: () => location.reload() })
  const fetchOf: PageFetch = (url, request) => fetch(url, request)
  const token = () => keeper.token
  const connection = new Connection({ fetch: fetchOf, clock, random: Math.random, token, listener: state })
  const api = new Api({
    fetch: fetchOf,
    token,
    changeToken: () => state.hello?.changeToken,
    onLocked: (error) => {
      connection.stop()
      state.onEnd(error, 401)
    },
  })
  const leaseHistory = new HistoryCache({
    clock,
    ask: (request) => api.history(request),
    range: () => ({ from: state.serverNow - (state.hello?.historyFor ?? 0), to: state.serverNow }),
    onChange: () => state.topics.changed('history'),
    isLive: () => state.status.kind === 'live',
  })
  state.onNames((names) => leaseHistory.changed(names))
  // A store that could not be read leaves a blind period behind.
  state.topics.on('status', () => leaseHistory.changed('all'))

  const page: Page = {
    state,
    api,
    formats: new Formats(),
    history: leaseHistory,
    places: new Map(),
    unlock: (given) => {
      keeper.token = given
      connection.start()
    },
  }
  const watchRoute = () => {
    if (takeToken()) connection.start()
    const route = routeOf(location.hash)
    // Back in the list, the stream stays as it is: another one would send the whole list again.
    if (route.view === 'lease') connection.watch(route.name)
    const query = queryIn(location.hash)
    if (query === '') showView(state.listing.view)
    else state.look(viewOf(query))
  }
  state.onLook(showView)
  addEventListener('hashchange', watchRoute)
  connection.start()
  watchRoute()
  const root = document.getElementById('page')
  if (root === null) throw new Error('The page has no element for its content.')
  render(
    <PageContext.Provider value={page}>
      <App />
    </PageContext.Provider>,
    root,
  )
}

start()
