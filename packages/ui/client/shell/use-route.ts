import { useEffect, useState } from 'preact/hooks'
import { type Route, routeOf } from '../route/route.js'

/** The view in the address bar; the part is drawn again when it changes. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const read = () => setHash(location.hash)
    addEventListener('hashchange', read)
    return () => removeEventListener('hashchange', read)
  }, [])
  return routeOf(hash)
}
