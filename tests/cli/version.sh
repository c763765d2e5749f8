# Version and help in all their spellings.
heapdb version | sed 's/[0-9.]*$/N/'
[ "$(heapdb --version)" = "$(heapdb version)" ] && echo same
[ "$(heapdb --help)" = "$(heapdb help)" ] && echo same
[ "$(heapdb query)" = "$(heapdb help query)" ] && echo same
[ "$(heapdb query retained --help)" = "$(heapdb help query retained)" ] && echo same
[ "$(heapdb import -h)" = "$(heapdb help import)" ] && echo same
heapdb help import
heapdb help | awk 'length > 80'
