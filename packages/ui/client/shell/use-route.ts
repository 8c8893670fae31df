import { useEffect, useState } from 'preact/hooks'
import { type Route, routeOf } from '../route/route.js'

/** What the address bar says, also when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return routeOf(hash)
}
